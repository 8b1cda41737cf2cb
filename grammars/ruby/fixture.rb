#!/usr/bin/env ruby
# frozen_string_literal: true

require "json"
require_relative "../lib/base"
autoload :Lazy, "shop/lazy"
load "tasks/clean.rake"

DEFAULT_TIMEOUT = 30
Point = Struct.new(:x, :y)
Pair = Data.define(:left, :right) do
  def swap = with(left: right, right: left)
end
$verbose = false

module Shop
  module Pricing
    extend ActiveSupport::Concern

    RATES = { low: 0.1, high: 0.2 }.freeze
  end

  # Not in the outline.
  class Order < ApplicationRecord
    include Pricing
    prepend Tracing

    STATES = %i[open paid].freeze

    attr_accessor :total, :note
    attr_reader :lines
    belongs_to :customer, class_name: "Person"
    has_many :items, dependent: :destroy
    validates :total, presence: true
    scope :open_ones, -> { where(state: :open) }
    delegate :name, to: :customer
    alias_method :sum, :total
    alias amount total

    class << self
      def build(attributes = {}, &block)
        new(**attributes, &block)
      end
    end

    def initialize(total, lines: [], note: "a default text that is far too long for a head", **options)
      @total = total
      @lines ||= lines
      @@count = options.size
      local = Customer.find(total)
      local.notify(self)
    end

    def self.open(path, mode = :read) = File.open(path, mode)

    def paid?
      helper = lambda { |x| x + total }
      helper.call(1)
    end

    def total=(value)
      @total = Money.parse(value)
    end

    def <=>(other) = total <=> other.total

    def [](index)
      lines[index]
    end

    define_method(:refund) { |amount| amount }

    private

    def secret; end

    private def hidden(x)
      x
    end

    class Error < StandardError; end
    NotFound = Class.new(Error)
  end
end

class Shop::Cart
end

def helper(*args)
  Shop::Order.new(*args)
end

namespace :db do
  desc "Fills the tables"
  task :seed, [:size] => :environment do
    Seeder.run
  end
end

RSpec.describe Shop::Order do
  it "adds up" do
    expect(described_class.new(1).total).to eq(1)
  end
  specify { expect(1).to eq(1) }
  test "is valid" do
  end
end

class OrderTest < Minitest::Test
  def test_total
    assert_equal 1, Shop::Order.new(1).total
  end
end
