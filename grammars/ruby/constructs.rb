# frozen_string_literal: true

require "set"
require_relative "lib/oar"

A, B = 1, 2
LIMIT ||= 10
$verbose = false

# Rows boats.
module Rowing
  VERSION = "1.0".freeze
  Point = Struct.new(:x, :y) do
    def sum = x + y
  end

  # A boat.
  class Boat < Vessel
    include Comparable
    extend Forwardable

    attr_reader :name, :length
    attr_accessor :speed
    def_delegators :@crew, :size, :each
    delegate :captain, :mate, to: :crew
    MAX_SPEED = 9
    @@count = 0

    class << self
      attr_reader :all
      def build(*args, **options, &block) = new(*args)
      private

      def register(boat)
        @all << boat
      end
    end

    def self.find(name)
      @all.find { |boat| found = boat; found.name == name }
    end

    def initialize(name, length: 3)
      @name = name
      @length ||= length
    end

    def <=>(other) = length <=> other.length
    def [](at) @crew[at] end
    def fast? = speed > 3
    def speed=(value)
      @speed = value
    end

    alias quick? fast?
    alias_method :fleet?, :fast?

    private def hidden
      inner = 1
      inner
    end

    define_method(:turn) { |by| @heading += by }

    protected

    def compare(other) = 0
  end
end

class Rowing::Boat
  def row(times = 1)
    times.times { |time| stroke = time }
  end
end

def Rowing.start(boat); boat.row; end

Rowing::Boat.class_eval do
  def anchor = @anchored = true
end

class Sunk < StandardError; end

task :launch, [:boat] => :build do |_, args|
  boat = args[:boat]
end
