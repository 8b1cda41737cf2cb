; Selectors and custom properties share a line; each at-rule that contains rules has its own line.
(rule_set (selectors . (_) @name) (block) @body) @definition.key
(declaration (property_name) @name ":" @body (#match? @name "^--")) @definition.key
(media_statement . "@media" @name (block) @body) @definition.section
(supports_statement . "@supports" @name (block) @body) @definition.section
(keyframes_statement (keyframes_name) @name (keyframe_block_list) @body) @definition.section
(at_rule (at_keyword) @name (block) @body) @definition.section

(import_statement . (string_value) @import)
(import_statement . (call_expression (arguments . (string_value) @import)))
(import_statement . (call_expression (arguments . (plain_value) @import)))
