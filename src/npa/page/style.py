"""How the page looks: light and dark, wide and narrow, on screen and on paper."""

CSS = """
:root{--back:#f6f7f9;--card:#fff;--ink:#1b2330;--soft:#5a6577;--line:#dfe3ea;--wire:#aeb8c6;
--busy:#2459a9;--mixed:#6f9fe0;--idle:#bcd3f2;--draining:#f3cf86;--drained:#d98b1f;--down:#c93a4b;
--held:#7a5fb0;--off:#d5dae2;--unknown:#5f6975;--up:#2f9461;--gpus:#7a4fb5;--on-deep:#fff;--on-pale:#16202e;
color-scheme:light dark}
@media(prefers-color-scheme:dark){:root{--back:#10151d;--card:#182030;--ink:#e6eaf1;--soft:#9aa7ba;
--line:#2a3446;--wire:#4a586e;--busy:#4f8ae0;--mixed:#335f9f;--idle:#253f66;--draining:#8a6a25;
--drained:#d99a3d;--down:#e0586a;--held:#a68fd6;--off:#2f3949;--unknown:#8b95a5;--up:#45b57d;--gpus:#a884e0;
--on-deep:#10151d;--on-pale:#fff}}
*{box-sizing:border-box}
body{margin:0;background:var(--back);color:var(--ink);
font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
main{max-width:1160px;margin:0 auto;padding:28px 20px 60px}
header{margin-bottom:20px}.kind{margin:0;color:var(--soft);font-size:13px;letter-spacing:.04em}
h1{margin:0;font-size:32px;line-height:1.2;display:flex;flex-wrap:wrap;gap:6px 14px;align-items:center}
.about{margin:4px 0 0;color:var(--soft)}
h2{font-size:18px;margin:0 0 12px}h3{font-size:15px;margin:18px 0 8px}
section>h3:first-child{margin-top:0;font-size:16px}
h2.cluster{font-size:24px;margin:36px 0 14px;display:flex;flex-wrap:wrap;gap:6px 12px;align-items:center}
section{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:18px 20px;
margin:0 0 16px;min-width:0}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(170px,1fr));gap:12px;margin-bottom:16px}
.tile{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:14px 16px;
display:flex;flex-direction:column;min-width:0}
.tile b{font-size:26px;line-height:1.15;font-variant-numeric:tabular-nums}
.tile span{font-size:14px}.tile small{color:var(--soft);margin-top:auto;padding-top:4px}
.meter{width:100%;height:8px;border-radius:4px;margin:7px 0 2px;display:block}
.m-all{fill:var(--off)}.m-able{fill:var(--idle)}.m-used{fill:var(--busy)}
small{color:var(--soft);font-size:12.5px}
td small,th small,li small{display:block;font-weight:400}time small{display:inline}
.scroll{overflow-x:auto;max-width:100%}
table{border-collapse:collapse;width:100%;font-size:14px;font-variant-numeric:tabular-nums}
th,td{text-align:left;padding:7px 14px 7px 0;border-bottom:1px solid var(--line);vertical-align:top}
thead th{color:var(--soft);font-weight:500;font-size:12.5px;white-space:nowrap}
tbody tr:last-child>*{border-bottom:0}th[scope=row]{font-weight:600;min-width:84px}
.num{text-align:right;width:1%}.wide{min-width:200px}
time{white-space:nowrap}
li,p,h1,h2,code{overflow-wrap:anywhere}
td{white-space:nowrap}td.wide,td code,td ol,td bdi{white-space:normal}
td bdi,th bdi{display:inline-block;max-width:300px;overflow-wrap:break-word}
td bdi.short{white-space:nowrap}
th[scope=row]{overflow-wrap:break-word;max-width:300px}
code{display:block;width:fit-content;max-width:100%;margin-top:4px;padding:3px 8px;border-radius:6px;
background:var(--back);border:1px solid var(--line);font:12.5px/1.5 ui-monospace,"DejaVu Sans Mono",monospace}
code.in{display:inline;margin:0;padding:1px 4px;font-size:12px}
.pill{display:inline-flex;gap:7px;align-items:center;font-size:13px;font-weight:500;line-height:1.4;
border:1px solid var(--line);border-radius:99px;padding:2px 10px 2px 8px;background:var(--back);
color:var(--ink)}
.swatch{display:inline-block;flex:none;width:11px;height:11px;border-radius:3px}
.legend{list-style:none;display:flex;flex-wrap:wrap;gap:4px 16px;padding:0;margin:8px 0 10px;font-size:13px}
.legend li{display:flex;gap:7px;align-items:center}
.bar{width:100%;height:14px;border-radius:4px;display:block}td .bar{height:10px;margin-top:5px}
.findings{list-style:none;margin:0;padding:0}.findings li{padding:9px 0;border-bottom:1px solid var(--line)}
.findings li:first-child{padding-top:0}.findings li:last-child{border:0;padding-bottom:0}
.unknown{margin:0 0 8px;padding:8px 12px;border-left:4px solid var(--unknown);background:var(--back);
border-radius:0 6px 6px 0}
.none{color:var(--soft);margin:0}
.picture{display:block;width:100%;min-width:640px;height:auto;margin:6px 0 14px}
.picture text{font-size:12px;fill:var(--ink)}.picture .name{font-weight:600;font-size:13px}
.picture .about{fill:var(--soft);font-size:12px}
.wire{fill:none;stroke:var(--wire);stroke-width:2}
.box{fill:var(--card);stroke:var(--wire)}.b-down{stroke:var(--down);stroke-width:2}
.d-up{fill:var(--up)}.d-down{fill:var(--down)}.d-unknown{fill:var(--unknown)}
.switch{fill:var(--back);stroke:var(--wire)}
.picture .t-busy,.picture .t-down,.picture .t-held,.picture .t-unknown{fill:var(--on-deep)}
.picture .t-idle,.picture .t-mixed,.picture .t-draining,.picture .t-off{fill:var(--on-pale)}
.picture .t-drained{fill:#10151d}
.k-well{fill:var(--up);background:var(--up)}
.k-busy{fill:var(--busy);background:var(--busy)}.k-mixed{fill:var(--mixed);background:var(--mixed)}
.k-idle{fill:var(--idle);background:var(--idle)}.k-draining{fill:var(--draining);background:var(--draining)}
.k-drained{fill:var(--drained);background:var(--drained)}.k-down{fill:var(--down);background:var(--down)}
.k-held{fill:var(--held);background:var(--held)}.k-off{fill:var(--off);background:var(--off)}
.k-unknown{fill:var(--unknown);background:var(--unknown)}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,380px),1fr));gap:20px 32px}
.chart{margin:0;min-width:0}.chart figcaption{display:flex;flex-direction:column;gap:2px;
min-height:48px;margin-bottom:10px;font-size:14px}.chart .legend{margin:0}
.plot{display:grid;grid-template-columns:46px minmax(0,1fr);height:150px;gap:8px}
.plot svg{width:100%;height:150px;display:block;overflow:visible}
.y{display:flex;flex-direction:column;justify-content:space-between;text-align:right;margin:-9px 0}
.x{display:flex;justify-content:space-between;margin:6px 0 0 54px}
.x,.y{color:var(--soft);font-size:12px;font-variant-numeric:tabular-nums}
.grid{stroke:var(--line);stroke-width:1;vector-effect:non-scaling-stroke}
.s-cpus,.s-jobs,.s-gpus{vector-effect:non-scaling-stroke;stroke-width:1.5;fill-opacity:.28}
.plot .s-gpus{fill:none;stroke-width:2}
.s-cpus{fill:var(--busy);stroke:var(--busy);background:var(--busy)}
.s-gpus{fill:var(--gpus);stroke:var(--gpus);background:var(--gpus)}
.s-jobs{fill:var(--drained);stroke:var(--drained);background:var(--drained)}
summary{cursor:pointer}ol{margin:6px 0 0;padding-left:22px;font-size:13px}
a{color:var(--busy)}
@media(max-width:600px){main{padding:20px 12px 40px}section{padding:14px}h1{font-size:26px}
.tiles{grid-template-columns:1fr 1fr}.tile b{font-size:21px}}
@media print{body{background:#fff;font-size:12px}main{max-width:none;padding:0}
section,.tile{break-inside:avoid;border-color:#bbb}.scroll{overflow:visible}.picture{min-width:0}
*{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
"""
