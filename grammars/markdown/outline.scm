; A section's head is its heading, without the content below it.
(section . (atx_heading (atx_h1_marker) @section.1 heading_content: (_) @name) . (_)? @body) @definition.section
(section . (atx_heading (atx_h2_marker) @section.2 heading_content: (_) @name) . (_)? @body) @definition.section
(section . (atx_heading (atx_h3_marker) @section.3 heading_content: (_) @name) . (_)? @body) @definition.section
(section . (atx_heading (atx_h4_marker) @section.4 heading_content: (_) @name) . (_)? @body) @definition.section
(section . (atx_heading (atx_h5_marker) @section.5 heading_content: (_) @name) . (_)? @body) @definition.section
(section . (atx_heading (atx_h6_marker) @section.6 heading_content: (_) @name) . (_)? @body) @definition.section
; A heading with an underline has no section of its own in the syntax tree.
(setext_heading heading_content: (_) @name (setext_h1_underline) @body @heading.1) @definition.section
(setext_heading heading_content: (_) @name (setext_h2_underline) @body @heading.2) @definition.section

(link_reference_definition (link_destination) @import (#not-match? @import "^(<?[a-z]+:|#)"))
