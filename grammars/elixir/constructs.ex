defmodule Bees.Hive do
  @moduledoc """
  Keeps bees.
  """
  use GenServer
  alias Bees.{Queen, Worker}
  import Enum, only: [map: 2]
  require Logger

  @behaviour Bees.Home
  @type honey :: non_neg_integer()
  @typep state :: %{bees: list(), honey: honey}
  @max_bees 40
  @timeout 5_000

  defstruct name: nil, bees: [], honey: 0

  defmodule Full do
    defexception [:message]
  end

  @callback buzz(times :: integer) :: :ok

  @doc """
  Starts a hive.
  """
  @spec start_link(keyword) :: GenServer.on_start()
  def start_link(options \\ []) do
    GenServer.start_link(__MODULE__, options)
  end

  @impl true
  def init(options), do: {:ok, options}

  @doc "Adds honey."
  def add(hive, 0), do: hive

  def add(%{honey: honey} = hive, much) when much > 0 do
    inner = honey + much
    %{hive | honey: inner}
  end

  def add(_hive, _much) do
    raise Full, message: "too much"
  end

  def add(hive), do: add(hive, 1)

  @impl true
  def handle_call(:count, _from, state) do
    {:reply, length(state.bees), state}
  end

  def handle_call({:find, name}, _from, state) do
    {:reply, Enum.find(state.bees, fn bee -> bee.name == name end), state}
  end

  defp swarm(bees) when is_list(bees), do: map(bees, fn bee -> wing = bee; wing end)
  defp empty?, do: true
  def a + b, do: {a, b}

  defmacro sting(target) do
    quote do
      def unquote(target)(), do: :ouch
    end
  end

  defguard is_bee(value) when is_map(value)
  defdelegate size(hive), to: Map
end

defprotocol Bees.Sweet do
  @doc "How sweet it is."
  def level(thing)
end

defimpl Bees.Sweet, for: Bees.Hive do
  def level(hive), do: hive.honey
end
