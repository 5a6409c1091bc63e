// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// The look of the page: light and dark by the reader's setting, and on paper. The two colours stay
/// apart for colour-blind eyes (Okabe and Ito's blue and vermilion), and shapes tell them apart too.

#include <string_view>

namespace comparison {

inline constexpr std::string_view html_style = R"css(
:root { --paper: #fbfbf9; --card: #ffffff; --ink: #1c1f23; --muted: #5d646c; --line: #dfe2e5;
  --point: #b9bfc6; --a: #0072b2; --b: #c24e00; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #14171a; --card: #1c2024; --ink: #e8eaed; --muted: #a3abb3; --line: #343a41;
    --point: #5a636d; --a: #63b8f0; --b: #f39a4f; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1.5rem 4rem; max-width: 1480px; background: var(--paper);
  color: var(--ink); font: 15px/1.5 system-ui, "Segoe UI", "Helvetica Neue", Arial, sans-serif; }
h1 { overflow-wrap: anywhere; font-size: 1.7rem; line-height: 1.25; margin: 0 0 .3rem; }
h2 { font-size: 1.25rem; margin: 2.6rem 0 .4rem; }
h3 { font-size: 1rem; margin: 1.6rem 0 .4rem; overflow-wrap: anywhere; }
h3 small { font-weight: 400; color: var(--muted); }
p { margin: .3rem 0 .8rem; max-width: 75ch; }
.files, .muted { color: var(--muted); overflow-wrap: anywhere; }
.winners { display: flex; flex-wrap: wrap; gap: 1rem; padding: 0; margin: 1.2rem 0; }
.winners li { list-style: none; background: var(--card); border: 1px solid var(--line);
  border-radius: 8px; padding: .7rem 1.1rem; flex: 1 1 15rem; }
.winners b { display: block; font-size: 1.1rem; }
.row, .tiles { display: flex; flex-wrap: wrap; gap: 16px; }
@media screen and (min-width: 1180px) {
  .row { flex-wrap: nowrap; }
  .tiles { display: grid; grid-template-columns: repeat(2, minmax(0, max-content)); }
}
figure { margin: 0; padding: 16px 16px 12px; background: var(--card); border-radius: 8px;
  border: 1px solid var(--line); break-inside: avoid; display: flex; flex-direction: column;
  max-width: 100%; }
figcaption { color: var(--muted); font-size: .82rem; line-height: 1.45; margin-top: .6rem; }
svg { max-width: 100%; height: auto; display: block; }
table { border-collapse: collapse; margin: .6rem 0; }
th, td { text-align: left; padding: .25rem 1.2rem .25rem 0; border-bottom: 1px solid var(--line);
  vertical-align: top; }
td.bits { font-variant-numeric: tabular-nums; }
text { font-size: 12px; fill: var(--ink); }
.title { font-weight: 600; font-size: 13.5px; }
.head { font-weight: 600; font-size: 11.5px; fill: var(--c, var(--muted)); }
.name { font-size: 11px; fill: var(--c); }
.note, .unit, .tick { fill: var(--muted); font-size: 11px; }
.tick { text-anchor: middle; }
.end { text-anchor: end; }
.number { fill: var(--c); font-variant-numeric: tabular-nums; }
.best { font-weight: 700; }
.s0 { --c: var(--a); }
.s1 { --c: var(--b); }
.solid { fill: var(--c); }
.hollow { fill: var(--card); stroke: var(--c); stroke-width: 1.8; }
.area { fill: var(--c); fill-opacity: .4; }
.outline { fill: none; stroke: var(--c); stroke-width: 1.4; }
.grid, .rail { stroke: var(--line); stroke-width: 1; }
.point { stroke: var(--point); stroke-width: 1; }
@media print {
  :root { --paper: #fff; --card: #fff; --ink: #000; --muted: #444; --line: #ccc; --point: #aaa;
    --a: #0072b2; --b: #c24e00; }
  body { padding: 0; font-size: 11pt; }
  h2, h3 { break-after: avoid; }
}
)css";

}  // namespace comparison
