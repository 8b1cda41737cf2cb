; Definitions. A head is the text from the definition's start to its @body.
; A declarator is wrapped in pointer, array and function declarators, in any order. A definition without a type
; is a macro that produces a function or, in C++, a constructor.
(function_definition
  type: (_)
  declarator: [
    (function_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))
    (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name)))
  ]
  body: (_) @body) @definition.function

(type_definition
  type: (enum_specifier body: (_) @body)
  declarator: [(type_identifier) @name (_ declarator: (type_identifier) @name)]) @definition.enum
(type_definition
  type: (_ body: (_) @body)
  declarator: [(type_identifier) @name (_ declarator: (type_identifier) @name)]) @definition.struct
(type_definition
  declarator: [
    (type_identifier) @name
    (_ declarator: (type_identifier) @name)
    (_ declarator: (_ declarator: (type_identifier) @name))
    (_ declarator: (parenthesized_declarator [(type_identifier) @name (_ declarator: (type_identifier) @name)]))
    (_ declarator: (_ declarator: (parenthesized_declarator [(type_identifier) @name (_ declarator: (type_identifier) @name)])))
  ]) @definition.type

(struct_specifier name: (type_identifier) @name body: (_) @body) @definition.struct
(union_specifier name: (type_identifier) @name body: (_) @body) @definition.struct
(enum_specifier name: (type_identifier) @name body: (_) @body) @definition.enum
(enumerator name: (_) @name value: (_) @body) @definition.variant
(enumerator name: (_) @name) @definition.variant

; Callers see a prototype.
(declaration
  declarator: [
    (function_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))
    (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name)))
  ]) @definition.function
; Parts of classes (`friend class Other;`) and of modules that the grammar does not understand look like variables.
(declaration
  type: (_) @_type
  declarator: [
    (init_declarator
      declarator: [
        (identifier) @name
        (pointer_declarator declarator: [(identifier) @name (_ declarator: (identifier) @name)])
        (array_declarator declarator: [(identifier) @name (_ declarator: (identifier) @name)])
        (_ declarator: (parenthesized_declarator (_ declarator: [(identifier) @name (_ declarator: (identifier) @name)])))
      ]
      value: (_) @body)
    (identifier) @name
    (pointer_declarator declarator: [(identifier) @name (_ declarator: (identifier) @name)])
    (array_declarator declarator: [(identifier) @name (_ declarator: (identifier) @name)])
    (_ declarator: (parenthesized_declarator (_ declarator: [(identifier) @name (_ declarator: (identifier) @name)])))
  ] @declarator
  (#not-any-of? @_type "friend" "export" "import" "module")) @definition.variable

(declaration declarator: (init_declarator value: (_) @opaque))

; A macro without a value is an include guard or a switch.
(preproc_def name: (_) @name value: (_) @body) @definition.constant
(preproc_function_def name: (_) @name value: (_) @body) @definition.macro

(preproc_include path: (_) @import)
