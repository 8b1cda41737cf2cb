; Definitions. A head is the text from the definition's start to its @body.
; What has no type is a macro that makes a function, or in C++ a constructor.
(function_definition
  type: (_)
  declarator: [
    (function_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))
    (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name)))
  ]
  body: (_) @body) @definition.function

; A prototype is what a caller sees.
(declaration
  declarator: [
    (function_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))
    (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name)))
  ]) @definition.function

(type_definition
  type: (struct_specifier body: (_) @body)
  declarator: [(type_identifier) @name (pointer_declarator declarator: (type_identifier) @name)]) @definition.struct
(type_definition
  type: (union_specifier body: (_) @body)
  declarator: [(type_identifier) @name (pointer_declarator declarator: (type_identifier) @name)]) @definition.struct
(type_definition
  type: (enum_specifier body: (_) @body)
  declarator: [(type_identifier) @name (pointer_declarator declarator: (type_identifier) @name)]) @definition.enum
(type_definition
  declarator: [
    (type_identifier) @name
    (pointer_declarator declarator: (type_identifier) @name)
    (array_declarator declarator: (type_identifier) @name)
    (function_declarator declarator: [(type_identifier) @name (parenthesized_declarator (type_identifier) @name)])
    (pointer_declarator declarator: (function_declarator declarator: (parenthesized_declarator (type_identifier) @name)))
    (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @name)))
    (pointer_declarator declarator: (function_declarator
      declarator: (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @name))))
  ]) @definition.type

(struct_specifier name: (type_identifier) @name body: (_) @body) @definition.struct
(union_specifier name: (type_identifier) @name body: (_) @body) @definition.struct
(enum_specifier name: (type_identifier) @name body: (_) @body) @definition.enum
(enumerator name: (_) @name value: (_) @body) @definition.variant
(enumerator name: (_) @name) @definition.variant

(declaration
  declarator: (init_declarator
    declarator: [
      (identifier) @name
      (array_declarator declarator: (identifier) @name)
      (array_declarator declarator: (array_declarator declarator: (identifier) @name))
      (pointer_declarator declarator: (identifier) @name)
      (pointer_declarator declarator: (array_declarator declarator: (identifier) @name))
      (pointer_declarator declarator: (pointer_declarator declarator: (identifier) @name))
      (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (identifier) @name)))
    ]
    value: (_) @body)) @definition.variable
; `friend class Other;` behind something not understood looks like a variable.
(declaration
  type: (_) @_type
  declarator: [
    (identifier) @name
    (array_declarator declarator: (identifier) @name)
    (array_declarator declarator: (array_declarator declarator: (identifier) @name))
    (pointer_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (array_declarator declarator: (identifier) @name))
    (pointer_declarator declarator: (pointer_declarator declarator: (identifier) @name))
    (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (identifier) @name)))
  ]
  (#not-eq? @_type "friend")) @definition.variable

; A macro without a value is a header's guard or a switch.
(preproc_def name: (_) @name value: (_) @body) @definition.constant
(preproc_function_def name: (_) @name value: (_) @body) @definition.macro

(preproc_include path: (_) @import)
