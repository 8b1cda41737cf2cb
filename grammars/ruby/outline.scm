; Definitions. A head is the text from the definition's start to its @body.
(module name: (constant) @name [(body_statement) "end"] @body) @definition.module
(module name: (scope_resolution name: (_) @name) @container [(body_statement) "end"] @body) @definition.module
(class name: (constant) @name [(body_statement) "end"] @body) @definition.class
(class name: (scope_resolution name: (_) @name) @container [(body_statement) "end"] @body) @definition.class
(singleton_class value: (_) @name [(body_statement) "end"] @body) @definition.impl
(method name: (_) @name [(body_statement) "end"] @body) @definition.function
(method name: (_) @name body: (_) @body) @definition.function
(singleton_method object: (constant) @container name: (_) @name [(body_statement) "end"] @body) @definition.function
(singleton_method name: (_) @name [(body_statement) "end"] @body) @definition.function
(singleton_method object: (constant) @container name: (_) @name body: (_) @body) @definition.function
(singleton_method name: (_) @name body: (_) @body) @definition.function
(alias name: (_) @name) @definition.function

; Types without a keyword: `Point = Struct.new(:x, :y)`.
(assignment
  left: (constant) @name
  right: (call receiver: (constant) @_type method: (identifier) @_new block: (_) @body)
  (#any-of? @_type "Class" "Data" "Module" "Struct") (#any-of? @_new "define" "new")) @definition.class
(assignment
  left: (constant) @name
  right: (call receiver: (constant) @_type method: (identifier) @_new)
  (#any-of? @_type "Class" "Data" "Module" "Struct") (#any-of? @_new "define" "new")) @definition.class
(assignment left: (constant) @name right: (_) @body) @definition.constant
(assignment left: (global_variable) @name right: (_) @body) @definition.variable
(assignment left: (left_assignment_list (constant) @name @declarator) right: (_) @body) @definition.constant
(operator_assignment left: (constant) @name operator: "||=" @body) @definition.constant
(operator_assignment left: (global_variable) @name operator: "||=" @body) @definition.variable

; A type that is opened again.
(call
  receiver: [(constant) (scope_resolution)] @name
  method: (identifier) @_eval
  block: (_) @body
  (#any-of? @_eval "class_eval" "class_exec" "module_eval" "refine")) @definition.impl
(call
  !receiver
  method: (identifier) @_refine
  arguments: (argument_list . [(constant) (scope_resolution)] @name)
  block: (_) @body
  (#eq? @_refine "refine")) @definition.impl

; Calls that define something: accessors, mixins and associations.
(call
  !receiver
  method: (identifier) @_macro
  arguments: (argument_list . [(simple_symbol) (string)] @name)
  block: (_) @body
  (#any-of? @_macro "attribute" "define_method" "has_many" "helper_method" "scope")) @definition.method
(call
  !receiver
  method: (identifier) @_macro
  arguments: (argument_list . [(simple_symbol) (string)] @name . (lambda) @body)
  (#any-of? @_macro "scope" "has_many" "has_one" "belongs_to")) @definition.method
(call
  !receiver
  method: (identifier) @_macro
  arguments: (argument_list [(simple_symbol) (string)] @name @declarator)
  (#any-of? @_macro
    "attr" "attr_accessor" "attr_reader" "attr_writer" "cattr_accessor" "cattr_reader" "class_attribute" "delegate" "helper_method"
    "mattr_accessor" "mattr_reader")) @definition.method
(call
  !receiver
  method: (identifier) @_macro
  arguments: (argument_list . [(simple_symbol) (string)] @name)
  (#any-of? @_macro
    "alias_attribute" "alias_method" "attribute" "belongs_to" "define_method" "enum"
    "has_and_belongs_to_many" "has_many" "has_one" "scope")) @definition.method
(call
  !receiver
  method: (identifier) @_macro
  arguments: (argument_list . [(constant) (scope_resolution)] @name)
  (#any-of? @_macro "extend" "include" "prepend")) @definition.field

(call
  !receiver
  method: (identifier) @_macro
  arguments: (argument_list . (_) (simple_symbol) @name @declarator)
  (#any-of? @_macro "def_delegator" "def_delegators" "def_instance_delegators")) @definition.method

; Definitions of Rake and Sinatra.
(call
  !receiver
  method: (identifier) @_macro
  arguments: (argument_list . [(simple_symbol) (string) (pair key: (_))] @name)
  block: (_ "do" @body)
  (#any-of? @_macro "file" "task")) @definition.function
(call
  !receiver
  method: (identifier) @_macro
  arguments: (argument_list . [(simple_symbol) (string)] @name)
  block: (_ "do" @body)
  (#eq? @_macro "namespace")) @definition.module
(call
  !receiver
  method: (identifier) @_macro
  arguments: (argument_list . [(simple_symbol) (string) (pair key: (_))] @name)
  !block
  (#eq? @_macro "task")) @definition.function
(call
  !receiver
  method: (identifier) @_macro
  arguments: (argument_list . (string) @name)
  block: (_) @body
  (#any-of? @_macro "delete" "get" "patch" "post" "put") (#match? @name "^['\"]/")) @definition.function

; `private def name`.
(call method: (identifier) @modifier arguments: (argument_list . [(method) (singleton_method)]))

(assignment left: (instance_variable) @instance)
(operator_assignment left: (instance_variable) @instance)

(call
  !receiver
  method: (identifier) @_require
  arguments: (argument_list . (string (string_content) @import))
  (#any-of? @_require "gem" "load" "require" "require_dependency" "require_relative"))
(call
  !receiver
  method: (identifier) @_autoload
  arguments: (argument_list . (_) . (string (string_content) @import))
  (#eq? @_autoload "autoload"))

(call !receiver method: (identifier) @_name block: (_) (#any-of? @_name "it" "scenario" "specify" "test")) @test
(method name: (identifier) @_name (#match? @_name "^test_")) @test
