(formal_parameters (identifier) @bind)
(field_definition property: (_) @bind value: (_)? @value)
(jsx_attribute (property_identifier) @key)
