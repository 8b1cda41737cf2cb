; `struct { ... } inner;` holds a structure of its own, whose parts are shown below it.
(field_declaration
  type: (_ body: (_) @body)
  declarator: [(field_identifier) @name (_ declarator: (field_identifier) @name)]) @definition.field
(field_declaration
  declarator: [
    (field_identifier) @name
    (_ declarator: (field_identifier) @name)
    (_ declarator: (_ declarator: (field_identifier) @name))
    (_ declarator: (parenthesized_declarator (_ declarator: (field_identifier) @name)))
    (_ declarator: (_ declarator: (parenthesized_declarator (_ declarator: (field_identifier) @name))))
  ]) @definition.field
