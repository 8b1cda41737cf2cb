// Draws the Mermaid blocks of a page. The library is loaded by pages that have one only.
(() => {
  const blocks = [...document.querySelectorAll('code.language-mermaid')];
  if (blocks.length === 0) return;
  const isDark = ['navy', 'coal', 'ayu'].some((theme) => document.documentElement.classList.contains(theme));
  const script = document.createElement('script');
  script.src = `${path_to_root}mermaid.js`;
  script.onload = () => {
    const diagrams = blocks.map((block) => {
      const diagram = document.createElement('div');
      diagram.className = 'mermaid';
      diagram.textContent = block.textContent;
      block.closest('pre').replaceWith(diagram);
      return diagram;
    });
    mermaid.initialize({ startOnLoad: false, theme: isDark ? 'dark' : 'neutral' });
    mermaid.run({ nodes: diagrams });
  };
  document.head.append(script);
})();
