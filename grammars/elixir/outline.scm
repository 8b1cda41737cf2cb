; Definitions are macro calls. A head is the text from the start of the call to its @body.
(call
  target: (identifier) @_macro
  (arguments . (_) @name)
  (do_block) @body
  (#any-of? @_macro "defmodule" "defimpl")) @definition.module
(call
  target: (identifier) @_macro
  (arguments . (_) @name)
  (do_block) @body
  (#eq? @_macro "defprotocol")) @definition.interface

; The argument of `def`: a call or a name, optionally with a guard, then `do:` or a block.
(call
  target: (identifier) @_def
  (arguments . (call target: (identifier) @name (arguments) @clause) (keywords) @body)
  (#any-of? @_def "def" "defp" "defmacro" "defmacrop")) @definition.function
(call
  target: (identifier) @_def
  (arguments . (call target: (identifier) @name (arguments) @clause))
  (do_block) @body
  (#any-of? @_def "def" "defp" "defmacro" "defmacrop" "defn" "defnp")) @definition.function
(call
  target: (identifier) @_def
  (arguments . (call target: (identifier) @name (arguments) @clause))
  (#any-of? @_def "def" "defp" "defmacro" "defmacrop" "defdelegate")) @definition.function
(call
  target: (identifier) @_def
  (arguments
    . (binary_operator left: (call target: (identifier) @name (arguments) @clause) operator: "when")
    (keywords) @body)
  (#any-of? @_def "def" "defp" "defmacro" "defmacrop")) @definition.function
(call
  target: (identifier) @_def
  (arguments . (binary_operator left: (call target: (identifier) @name (arguments) @clause) operator: "when"))
  (do_block) @body
  (#any-of? @_def "def" "defp" "defmacro" "defmacrop")) @definition.function
(call
  target: (identifier) @_def
  (arguments . (binary_operator left: (call target: (identifier) @name (arguments) @clause) operator: "when"))
  (#any-of? @_def "def" "defp" "defguard" "defguardp")) @definition.function
(call
  target: (identifier) @_def
  (arguments . (identifier) @name @clause (keywords) @body)
  (#any-of? @_def "def" "defp" "defmacro" "defmacrop")) @definition.function
(call
  target: (identifier) @_def
  (arguments . (identifier) @name @clause)
  (do_block) @body
  (#any-of? @_def "def" "defp" "defmacro" "defmacrop")) @definition.function
(call
  target: (identifier) @_def
  (arguments . (binary_operator operator: _ @name @clause) (keywords) @body)
  (#any-of? @_def "def" "defp" "defmacro" "defmacrop")) @definition.function
(call
  target: (identifier) @_def
  (arguments . (binary_operator operator: _ @name @clause))
  (do_block) @body
  (#any-of? @_def "def" "defp" "defmacro" "defmacrop")) @definition.function

; Documentation and other attributes belong to the definition after them.
(unary_operator
  operator: "@"
  operand: (call target: (identifier) @_attribute)
  (#any-of? @_attribute "deprecated" "dialyzer" "doc" "impl" "shortdoc" "since" "spec" "tag" "typedoc")) @lead

; Data: structs, exceptions, schemas.
(call target: (identifier) @name (arguments) (#any-of? @name "defstruct" "defexception")) @definition.field
(call
  target: (identifier) @_macro
  (arguments . (string) @name)
  (do_block) @body
  (#any-of? @_macro "schema" "object" "input_object")) @definition.impl
(call target: (identifier) @name (do_block) @body (#eq? @name "embedded_schema")) @definition.impl
(call
  target: (identifier) @_macro
  (arguments . (atom) @name)
  (#any-of? @_macro "field" "belongs_to" "embeds_many" "embeds_one" "has_many" "has_one" "many_to_many")) @definition.method

; Code inside `quote` is generated elsewhere and is not part of this module.
(call target: (identifier) @_quote (do_block) (#eq? @_quote "quote")) @local

(unary_operator
  operator: "@"
  operand: (call target: (identifier) @_attribute (arguments (binary_operator left: [(identifier) (call target: (_))] @name)))
  (#any-of? @_attribute "opaque" "type" "typep")) @definition.type
(unary_operator
  operator: "@"
  operand: (call
    target: (identifier) @_attribute
    (arguments (binary_operator left: (call target: (identifier) @name)))
    (#any-of? @_attribute "callback" "macrocallback"))) @definition.method
(unary_operator
  operator: "@"
  operand: (call target: (identifier) @_attribute)
  (#any-of? @_attribute "deprecated" "spec")) @attribute
(unary_operator
  operator: "@"
  operand: (call target: (identifier) @name (arguments) @body)
  (#not-any-of? @name
    "after_compile" "before_compile" "behaviour" "callback" "compile" "derive" "deprecated" "dialyzer" "doc" "enforce_keys"
    "external_resource" "impl" "moduledoc" "moduletag" "on_definition" "on_load" "optional_callbacks" "shortdoc" "since" "spec" "tag"
    "typedoc")) @definition.constant

(call target: (identifier) @_use (arguments . (_) @import) (#any-of? @_use "alias" "import" "require" "use"))
(unary_operator operator: "@" operand: (call target: (identifier) @_attribute (arguments (alias) @import)) (#eq? @_attribute "behaviour"))

(call target: (identifier) @_test (arguments . (string)) (#any-of? @_test "property" "test")) @test

(alias) @reference
