; Titles and headings in full, and the tags of elements that links, scripts and styles can refer to by name.
(element (start_tag (tag_name) @_tag) (text) @name (#match? @_tag "^([hH][1-6]|title)$")) @definition.section
(element (start_tag (tag_name) @name) (#match? @name "^[hH][1-6]$")) @definition.section
(element
  (start_tag (attribute (attribute_name) @_id [(attribute_value) @name (quoted_attribute_value (attribute_value) @name)]))
  . (_) @body
  (#eq? @_id "id")) @definition.section
(element
  (start_tag (attribute (attribute_name) @_id [(attribute_value) @name (quoted_attribute_value (attribute_value) @name)])) .
  (#eq? @_id "id")) @definition.section
(element
  (self_closing_tag (attribute (attribute_name) @_id [(attribute_value) @name (quoted_attribute_value (attribute_value) @name)]))
  (#eq? @_id "id")) @definition.section

(script_element
  (start_tag (attribute (attribute_name) @_src [(attribute_value) @import (quoted_attribute_value (attribute_value) @import)]))
  (#eq? @_src "src") (#not-match? @import "^([a-z]+:)?//"))
(element
  (start_tag
    (tag_name) @_link
    (attribute (attribute_name) @_href [(attribute_value) @import (quoted_attribute_value (attribute_value) @import)]))
  (#eq? @_link "link") (#eq? @_href "href") (#not-match? @import "^([a-z]+:)?//"))
(element
  (self_closing_tag
    (tag_name) @_link
    (attribute (attribute_name) @_href [(attribute_value) @import (quoted_attribute_value (attribute_value) @import)]))
  (#eq? @_link "link") (#eq? @_href "href") (#not-match? @import "^([a-z]+:)?//"))
