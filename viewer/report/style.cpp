// The looks of a report. Colours are those of Okabe and Ito (2008) and one scale by lightness: told apart with the
// common colour blindnesses, and in grey. Nothing is said by a colour alone.
#include "viewer/report/report.hpp"

namespace pclscope::report {

const char* style_sheet() {
  return R"(
:root { color-scheme: light dark; --page: #ffffff; --panel: #f4f5f7; --text: #1c1e22; --faint: #5b6069;
  --rule: #d3d6db; --accent: #14538f; --good: #0b5d91; --fair: #8a5a00; --poor: #a32a00;
  --late-sender: #d55e00; --late-receiver: #e69f00; --collective: #0072b2; --transfer: #56b4e9; --other: #9a9ea6;
  --files: #cc79a7; --compute: #e3e5e9; --r0: #d55e00; --r1: #0072b2; --r2: #009e73; --r3: #b5649a; --r4: #b07c00;
  --r5: #3a9ad0; --h0: #dcdfe4; --h1: #fdd49e; --h2: #fc9b5f; --h3: #e5552f; --h4: #ad1a0d; --h5: #6b0008;
  --mark: #ffffff; }
@media (prefers-color-scheme: dark) { :root { --page: #15171b; --panel: #20242a; --text: #e4e6ea; --faint: #a2a7b0;
  --rule: #3c414a; --accent: #7fb9ec; --good: #7cc0f0; --fair: #f0b840; --poor: #ff9a6b;
  --late-sender: #f0772a; --late-receiver: #f0b040; --collective: #3f9bd8; --transfer: #8accf2; --other: #838892;
  --files: #dc93bb; --compute: #343942; --r0: #f0772a; --r1: #4aa3e0; --r2: #2ebd94; --r3: #dc93bb; --r4: #d9a92c;
  --r5: #a4d8f5; --h0: #454b55; --h1: #7a4a2a; --h2: #b5602a; --h3: #e8862e; --h4: #fbb85a; --h5: #fff0b8;
  --mark: #000000; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1.25rem 3rem; max-width: 56rem; background: var(--page); color: var(--text);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2.5rem 0 .75rem; padding-bottom: .25rem; border-bottom: 1px solid var(--rule); }
h3 { font-size: 1rem; margin: 0 0 .25rem; overflow-wrap: anywhere; }
p { margin: .5rem 0; overflow-wrap: anywhere; }
a { color: var(--accent); }
.kind { color: var(--faint); margin: 0; font-size: .85rem; letter-spacing: .04em; }
.faint, figcaption, .note { color: var(--faint); font-size: .875rem; }
nav { margin-top: .75rem; font-size: .875rem; } nav a { margin-right: 1rem; white-space: nowrap; }
.answer { background: var(--panel); border-left: 4px solid var(--accent); padding: .75rem 1.25rem;
  margin: 1.25rem 0; }
.answer p { font-size: 1.125rem; margin: .4rem 0; }
.warning { border-left: 4px solid var(--fair); padding: .25rem .75rem; background: var(--panel); }
.cards { display: flex; flex-wrap: wrap; gap: .75rem; margin: 1rem 0 0; }
.cards div { flex: 1 1 8rem; border: 1px solid var(--rule); border-radius: 6px; padding: .5rem .75rem; }
.cards dt { color: var(--faint); font-size: .8rem; } .cards dd { margin: 0; font-size: 1.35rem; font-weight: 600; }
.cards dd small { display: block; font-size: .8rem; font-weight: 400; color: var(--faint); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .875rem; font-variant-numeric: tabular-nums; }
td { white-space: nowrap; } td.words { white-space: normal; min-width: 4.5rem; }
th, td { text-align: right; padding: .3rem .5rem; border-bottom: 1px solid var(--rule); vertical-align: top; }
th { font-weight: 600; } thead th { color: var(--faint); font-weight: 500; vertical-align: bottom; }
th:first-child, td.words, td.words.short, th.words { text-align: left; }
tbody th { font-weight: 500; white-space: nowrap; } td.words { overflow-wrap: anywhere; }
.good { color: var(--good); } .fair { color: var(--fair); } .poor { color: var(--poor); font-weight: 600; }
td small, td small.faint { display: block; font-size: .8em; }
td.words.short, th.words { white-space: nowrap; }
.note { break-after: avoid; }
.finding { border: 1px solid var(--rule); border-radius: 6px; padding: .75rem 1rem; margin: .75rem 0; }
.finding ul { margin: .25rem 0; padding-left: 1.25rem; } .finding li { overflow-wrap: anywhere; }
.advice { border-left: 3px solid var(--accent); padding-left: .75rem; }
.figures { display: flex; flex-wrap: wrap; gap: .15rem 1.25rem; font-size: .875rem; color: var(--faint);
  margin: .25rem 0; }
.weak { opacity: .85; font-size: .9rem; }
figure { margin: 1rem 0; } svg { display: block; width: 100%; height: auto; overflow: visible; }
svg text { font: 11px system-ui, "Segoe UI", "DejaVu Sans", sans-serif; fill: var(--text); }
svg .small { font-size: 9.5px; fill: var(--faint); } svg .end { text-anchor: end; } svg .mid { text-anchor: middle; }
svg .strong { font-weight: 600; } svg .dot { font-size: 9px; text-anchor: middle; fill: var(--text); }
svg .dot.dark { fill: var(--mark); }
.grid { stroke: var(--rule); fill: none; stroke-width: 1; } .axis { stroke: var(--faint); fill: none;
  stroke-width: 1; }
.late-sender { fill: var(--late-sender); } .late-receiver { fill: var(--late-receiver); }
.collective { fill: var(--collective); } .transfer { fill: var(--transfer); } .files { fill: var(--files); }
.start { fill: var(--r2); } .other { fill: var(--other); } .compute { fill: var(--compute); }
.h0 { --c: var(--h0); } .h1 { --c: var(--h1); } .h2 { --c: var(--h2); } .h3 { --c: var(--h3); }
  .h4 { --c: var(--h4); }
.h5 { --c: var(--h5); } .s0 { --c: var(--r0); } .s1 { --c: var(--r1); } .s2 { --c: var(--r2); }
  .s3 { --c: var(--r3); }
.s4 { --c: var(--r4); } .s5 { --c: var(--r5); } .s6 { --c: var(--other); }
.area { fill: var(--c); } .curve { fill: none; stroke: var(--c); stroke-width: 1.8; stroke-linejoin: round;
  stroke-linecap: round; }
.thin { fill: none; stroke: var(--rule); stroke-width: 1; }
.ranks { fill: none; stroke: var(--c); stroke-linecap: round; }
.disc { fill: var(--panel); stroke: var(--c); stroke-width: 2.5; } .disc.full { fill: var(--c); }
  .link { fill: none; stroke: var(--faint); opacity: .45; }
.w2 { stroke-width: 2; } .w3 { stroke-width: 3.5; }
svg .tag { font-size: 9px; font-weight: 600; paint-order: stroke; stroke: var(--page); stroke-width: 2; }
  .caused { fill: var(--text); }
.key { display: flex; flex-wrap: wrap; gap: .1rem 1rem; font-size: .8rem; color: var(--faint); padding: 0;
  margin: .25rem 0; list-style: none; }
.key i { display: inline-block; width: .8em; height: .8em; margin-right: .35em; border-radius: 2px;
  vertical-align: -.05em;
  background: var(--c); }
.key .late-sender { --c: var(--late-sender); } .key .late-receiver { --c: var(--late-receiver); }
.key .collective { --c: var(--collective); } .key .transfer { --c: var(--transfer); }
  .key .files { --c: var(--files); }
.key .start { --c: var(--r2); } .key
  .other { --c: var(--other); } .key .compute { --c: var(--compute); } .key .caused { --c: var(--text); }
th.depth0 { padding-left: 0.5em; } th.depth1 { padding-left: 1.5em; } th.depth2 { padding-left: 2.5em; }
th.depth3 { padding-left: 3.5em; } th.depth4 { padding-left: 4.5em; } th.depth5 { padding-left: 5.5em; }
th.depth6 { padding-left: 6.5em; } th.depth7 { padding-left: 7.5em; } th.depth8 { padding-left: 8.5em; }
th.depth9 { padding-left: 9.5em; } th.depth10 { padding-left: 10.5em; } th.depth11 { padding-left: 11.5em; }
th.depth12 { padding-left: 12.5em; } th.depth13 { padding-left: 13.5em; } th.depth14 { padding-left: 14.5em; }
th.depth15 { padding-left: 15.5em; } th.depth16 { padding-left: 16.5em; }
dl.methods dt { font-weight: 600; margin-top: .5rem; } dl.methods dd { margin: 0 0 0 1rem; }
footer { margin-top: 2.5rem; border-top: 1px solid var(--rule); padding-top: .5rem; color: var(--faint);
  font-size: .8rem; }
@page { size: A4; margin: 15mm 14mm; }
@media print { body { padding: 0; max-width: none; font-size: 10.5pt; } nav { display: none; }
  .answer p { font-size: 12pt; } h2 { break-after: avoid; margin-top: 1.5rem; } .wide { overflow: visible; }
  figure, .finding, .cards, tr, .answer { break-inside: avoid; }
  table { font-size: 8.5pt; } th, td { padding: .2rem .3rem; }
  * { -webkit-print-color-adjust: exact; print-color-adjust: exact; } a { color: inherit; text-decoration: none; } }
)";
}

}  // namespace pclscope::report
