(field_definition property: (_) @name value: (arrow_function body: (_) @body)) @definition.method
(field_definition property: (_) @name value: (_) @body) @definition.field
(field_definition property: (_) @name !value) @definition.field
