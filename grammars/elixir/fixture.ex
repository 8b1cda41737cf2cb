defmodule Shop.Order do
  @moduledoc """
  Not in the outline.
  """
  use Ecto.Schema
  use GenServer, restart: :transient
  import Ecto.Query, only: [from: 2]
  require Logger
  alias Shop.{Customer, Item}
  alias Shop.Pricing.Rate, as: Rate
  @behaviour Shop.Saleable

  @timeout 30_000
  @derive {Jason.Encoder, only: [:total]}
  defstruct [:total, items: []]
  @enforce_keys [:total]

  @type t :: %__MODULE__{total: integer}
  @typep state :: :open | :paid
  @opaque handle :: reference
  @callback price(item :: Item.t()) :: {:ok, integer} | {:error, term}

  schema "orders" do
    field :total, :integer
    belongs_to :customer, Customer
    has_many :items, Item
  end

  defguard is_paid(order) when order.state == :paid
  defdelegate name(order), to: Customer

  @doc "Not in the outline."
  @spec total(t) :: integer
  def total(%__MODULE__{items: []}), do: 0

  def total(%__MODULE__{items: items} = order) do
    Enum.reduce(items, 0, fn item, sum -> sum + Rate.price(order, item) end)
  end

  def total(order, discount), do: total(order) - discount

  @doc false
  @impl true
  def handle_call({:get, key}, _from, state) when is_atom(key) do
    {:reply, Map.get(state, key), state}
  end

  def handle_call(:stop, _from, state), do: {:stop, :normal, state}

  def start, do: :ok
  def stop(), do: :ok

  def paid?(order) when is_paid(order), do: true

  def a + b, do: add(a, b)

  defp secret(x, opts \\ []) do
    local = Keyword.get(opts, :local)
    helper(local, x)
  end

  defmacro trace(expression) do
    quote do: unquote(expression)
  end

  defmacrop inner(x), do: x

  @deprecated "Use total/1"
  def sum(order), do: total(order)

  defmodule NotFound do
    defexception [:message, plug_status: 404]
  end
end

defprotocol Shop.Saleable do
  @spec price(t) :: integer
  def price(thing)
end

defimpl Shop.Saleable, for: Shop.Item do
  def price(item), do: item.price
end

defmodule Shop.OrderTest do
  use ExUnit.Case, async: true

  setup do
    :ok
  end

  describe "total/1" do
    test "adds up", %{conn: conn} do
      assert Shop.Order.total(conn) == 0
    end
  end

  property "is never negative" do
    check all(x <- integer()), do: assert(x >= 0)
  end
end
