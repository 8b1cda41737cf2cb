(* Weaves cloth. *)
open Printf

module StringMap = Map.Make (String)

type colour = Red | Green of int | Blue of { deep : bool }
and thread = { colour : colour; mutable length : float }
type 'a loom = 'a list
type _ term = Int : int -> int term
exception Torn of string
type shape = ..
type shape += Square

(** The width. *)
let width = 3
let left, right = (1, 2)
let { colour; length } = default
let ( + ) a b = a
let ( let* ) x f = f x
let (>>=) x f = f x

let rec even = function 0 -> true | n -> odd (n - 1)
and odd = function 0 -> false | n -> even (n - 1)

let rec weave ?(times = 1) ~thread cloth =
  let inner = times in
  let helper x = x in
  match cloth with
  | [] -> [ thread ]
  | first :: rest -> helper (first :: weave ~times:inner ~thread rest)

let colour_of : thread -> colour = fun thread -> thread.colour
let table = Hashtbl.create 3
let () = printf "%d\n" width
let _ = table
external now : unit -> float = "caml_now"

module type LOOM = sig
  type t
  val make : int -> t
  val ( ^+ ) : t -> t -> t
end

module Loom : LOOM = struct
  type t = int
  let make n = n
  let ( ^+ ) a b = a
  let hidden = 1
end

module Wide (Inner : LOOM) = struct
  include Inner
  let twice n = make n
end

class virtual weaver (name : string) = object (self)
  val mutable cloth = 0
  method name = name
  method private rest = ()
  method virtual weave : int -> unit
end
