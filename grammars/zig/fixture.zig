//! Shows every construct.
const std = @import("std");
const util = @import("lib/util.zig");
const Allocator = std.mem.Allocator;
const builtin = @import("builtin");

pub const version = "1.0";
pub var counter: usize = 0;
const limit: u32 = 10;
threadlocal var state: State = .idle;

pub const State = enum(u8) {
    idle,
    busy = 3,
    _,

    pub fn isIdle(self: State) bool {
        return self == .idle;
    }
};

pub const Error = error{ OutOfMemory, NotFound };

pub const Value = union(enum) {
    number: i64,
    text: []const u8,
    none,
};

const Opaque = opaque {
    fn close(self: *Opaque) void {
        _ = self;
    }
};

/// Not in the outline.
pub const Order = struct {
    total: u64 = 0,
    items: std.ArrayList(Item),

    const Self = @This();
    pub const Item = struct { name: []const u8, price: u64 };

    pub fn init(allocator: Allocator) Self {
        var order = Self{ .items = std.ArrayList(Item).init(allocator) };
        order.total = 0;
        return order;
    }

    fn add(self: *Self, item: Item, comptime T: type) !void {
        const local = struct {
            fn inner(x: u32) u32 {
                return x;
            }
        };
        _ = local;
        try self.items.append(util.check(T, item));
    }
};

pub fn List(comptime T: type) type {
    return struct {
        head: ?*Node,

        pub const Node = struct { data: T };

        pub fn push(self: *@This(), value: T) void {
            _ = self;
            _ = value;
        }
    };
}

pub extern "c" fn getpid() c_int;
export fn entry(argc: c_int) callconv(.c) c_int {
    return argc;
}
pub inline fn fast(
    a: u32, // first
    b: u32,
) u32 {
    return a +% b;
}

pub usingnamespace @import("extra.zig");

comptime {
    _ = Order;
}

test "adds up" {
    try std.testing.expect(true);
}

test Order {
    _ = limit;
}
