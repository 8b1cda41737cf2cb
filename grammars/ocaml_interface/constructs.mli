(** Weaves cloth. *)

open Base

type t
(** A loom. *)

type colour =
  | Red
  | Green of int
  | Blue of { deep : bool }

and thread = {
  colour : colour;
  mutable length : float;  (** In metres. *)
}

type 'a cloth = private 'a list
type shape = ..
type shape += Square

exception Torn of string

(** The width of a loom,
    in threads. *)
val width : int

val weave : ?times:int -> thread:thread -> 'a cloth -> 'a cloth
val ( + ) : t -> t -> t
val ( let* ) : 'a option -> ('a -> 'b option) -> 'b option
external now : unit -> float = "caml_now"

module type LOOM = sig
  type t

  val make : int -> t
  val compare : t -> t -> int
end

module Loom : LOOM with type t = int

module Wide (Inner : LOOM) : sig
  include LOOM

  val twice : int -> t
end

module Names : sig
  val all : string list

  module Short : sig
    val first : string
  end
end

class weaver : string -> object
  method name : string
  method weave : int -> unit
end

class type named = object
  method name : string
end

include module type of Defaults
