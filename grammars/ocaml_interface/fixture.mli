(** Shows every construct. *)
open Core
include Comparable.S with type t := t

(** Not in the outline. *)
type t
type order = { total : int; mutable items : item list }
and item = private string
type state = Open | Paid of int [@@deriving show]
type 'a tree = 'a Tree.t

exception Not_found_order of string

val default_timeout : int
val total : ?discount:int -> items:item list -> order -> int
(** [total order] adds up. *)

val ( |+| ) : order -> order -> order
external sin : float -> float = "caml_sin"

module Rates : sig
  val find : string -> int
end

module Make (Key : Hashtbl.HashedType) : S with type key = Key.t
module Map = Stdlib.Map
module type S = sig
  type key
  val get : key -> int
end

class shape : string -> object
  method name : string
end

class type drawable = object
  method draw : unit
end
