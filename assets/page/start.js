// Unpacks what the page holds and starts it. Everything is in the page: nothing is fetched from anywhere.
"use strict";
(async () => {
  const failed = (text) => {
    const place = document.getElementById("failed");
    place.textContent = text;
    place.hidden = false;
  };
  window.addEventListener("error", (event) => failed(`This page stopped: ${event.message}`));
  window.addEventListener("unhandledrejection", (event) => failed(`This page stopped: ${event.reason}`));
  if (typeof DecompressionStream === "undefined") {
    failed("This browser is too old to unpack the city. Chrome 103, Firefox 113, Safari 16.4 and later can.");
    return;
  }
  const bytes = async (element) => {
    const packed = Uint8Array.from(atob(element.textContent), (c) => c.charCodeAt(0));
    element.remove();
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  };
  // Modules in one file: their names of each other become addresses of blobs.
  const addresses = [];
  for (const element of document.querySelectorAll("script[data-module]")) {
    const name = element.dataset.module;
    let source = new TextDecoder().decode(await bytes(element));
    for (const [other, address] of addresses)
      for (const quote of ['"', "'"]) source = source.replaceAll(quote + other + quote, `"${address}"`);
    addresses.push([name, URL.createObjectURL(new Blob([source], { type: "text/javascript" }))]);
  }
  const program = await import(addresses.at(-1)[1]);
  program.start(await bytes(document.getElementById("data")));
})();
