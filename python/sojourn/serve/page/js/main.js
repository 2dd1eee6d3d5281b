// The start of each page, by what its main element says it is.

import "./server.js";

const root = document.getElementById("page");
const PAGES = { start: "./start.js", explore: "./explore.js", lesson: "./lesson.js", results: "./results.js", senses: "./senses.js" };
try {
  const { start } = await import(PAGES[root.dataset.page]);
  await start(root);
} catch (error) {
  root.textContent = `This page cannot start: ${error.message}`;
}
