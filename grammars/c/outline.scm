; `struct { ... } inner;` defines a nested structure, whose fields are shown below `inner`.
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
  ] @declarator) @definition.field
