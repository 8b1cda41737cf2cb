; A section's head is its heading, without the content below it.
(section . (atx_heading heading_content: (_) @name) . (_) @body) @definition.section
(section . (atx_heading heading_content: (_) @name)) @definition.section
(setext_heading heading_content: (_) @name [(setext_h1_underline) (setext_h2_underline)] @body) @definition.section

(link_reference_definition (link_destination) @import (#not-match? @import "^(<?[a-z]+:|#)"))
