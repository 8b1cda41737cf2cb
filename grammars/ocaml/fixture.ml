(* Shows every construct. *)
open Core
open! Shop.Pricing
include Comparable.Make (Order)
module Map = Stdlib.Map
module Rates = struct
  let low = 1
  let find name = Hashtbl.find table name
end
module Table : sig
  type t
  val create : int -> t
end = struct
  type t = int
  let create n = n
end
module Make (Key : Hashtbl.HashedType) (Value : sig type t end) : S with type key = Key.t = struct
  type key = Key.t
  let get k = Key.hash k
end
module type S = sig
  type key
  val get : key -> int
end
module rec Even : S = Even

(** Not in the outline. *)
type order = { total : int; mutable items : item list }
and item = { name : string [@default "x"]; price : int }
type state = Open | Paid of int | Sent of { at : float }
type 'a tree = Leaf | Node of 'a tree * 'a * 'a tree [@@deriving show, eq]
type t = ..
type t += Extra of int
type poly = [ `A | `B of int ]
type alias = int list

exception Not_found_order of string
external sin : float -> float = "caml_sin"

let default_timeout = 30
let limit : int = 10
let first, second = 1, 2
let () = print_endline "start"

let total ?(discount = 0) ~items order =
  let rec sum acc = function
    | [] -> acc
    | x :: rest -> sum (acc + Rates.find x.name) rest
  in
  let local = sum 0 items in
  local - discount + order.total

let rec even n = if n = 0 then true else odd (n - 1)
and odd n = if n = 0 then false else even (n - 1)

let describe : state -> string = function
  | Open -> "open"
  | Paid _ | Sent _ -> "done"

let ( |+| ) a b = merge a b
let ( let* ) x f = Result.bind x ~f
let apply = fun x -> x + 1

class virtual shape (name : string) = object (self)
  inherit base
  val mutable size = 0
  method name = name
  method private grow by = size <- size + by
  method virtual area : float
end

class type drawable = object
  method draw : unit
end

let%test "adds up" = total ~items:[] { total = 0; items = [] } = 0
let%expect_test "prints" = print_endline "x"
