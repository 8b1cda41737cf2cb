//! Tunes pianos.
const std = @import("std");
const Allocator = std.mem.Allocator;
const builtin = @import("builtin");

pub const max_keys: usize = 88;
var tuned: u32 = 0;
threadlocal var current: ?*Piano = null;
const pitches = [_]f32{ 440.0, 880.0 };

/// A piano.
pub const Piano = struct {
    const Self = @This();
    pub const default_keys = 61;

    keys: []Key,
    allocator: Allocator,
    is_grand: bool = false,

    /// Makes a piano.
    pub fn init(allocator: Allocator, count: usize) !Self {
        const inner = count;
        return Self{ .keys = try allocator.alloc(Key, inner), .allocator = allocator };
    }

    pub fn deinit(self: *Self) void {
        self.allocator.free(self.keys);
    }

    inline fn tune(self: *Self, comptime T: type, to: T) void {
        const Local = struct {
            fn less(_: void, a: u32, b: u32) bool {
                return a < b;
            }
        };
        _ = Local.less;
        _ = self;
        _ = to;
    }

    pub const Key = struct { pitch: f32, pressed: bool };
};

const Pedal = enum(u8) {
    soft,
    loud = 3,
    pub fn press(self: Pedal) void {
        _ = self;
    }
};

pub const Sound = union(enum) { note: f32, rest };
const TuneError = error{ Broken, Missing };
pub const Handle = opaque {};

pub fn Stack(comptime T: type) type {
    return struct {
        items: []T,
        pub fn push(self: *@This(), item: T) void {
            _ = self;
            _ = item;
        }
    };
}

extern fn piano_on(level: c_int) c_int;
export fn piano_off() void {}
pub usingnamespace @import("more.zig");

test "tunes" {
    const local = 1;
    _ = local;
}
