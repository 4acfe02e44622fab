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
  const bytes = async (id) => {
    const element = document.getElementById(id);
    const packed = Uint8Array.from(atob(element.textContent), (c) => c.charCodeAt(0));
    element.remove();
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  };
  const text = async (id) => new TextDecoder().decode(await bytes(id));
  const module = (source) => URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  // Modules in one file: their names of each other become addresses of blobs.
  const core = module(await text("three-core"));
  const three = module((await text("three-module")).replaceAll('"./three.core.min.js"', `"${core}"`));
  const orbit = module((await text("three-orbit")).replace("from 'three'", `from '${three}'`));
  const program = await import(module(await text("program")));
  const [THREE, { OrbitControls }] = await Promise.all([import(three), import(orbit)]);
  program.start(THREE, OrbitControls, await bytes("data"));
})();
