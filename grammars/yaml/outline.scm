(block_mapping_pair key: (_) @name value: (_) @body) @definition.key
(block_mapping_pair key: (_) @name) @definition.key
(flow_pair key: (_) @name value: (_) @body) @definition.key
