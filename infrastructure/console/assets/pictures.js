'use strict';
// Draws what `html.ts` describes, in the colours of the scheme, and again when the scheme changes.
{
  const drawn = new Map();
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  // As `format.ts` writes them, in the language of the page; whole amounts beside an axis have no cents.
  const { lang } = document.documentElement;
  const reais = { style: 'currency', currency: 'BRL' };
  const amount = new Intl.NumberFormat(lang, reais);
  const short = new Intl.NumberFormat(lang, { ...reais, trailingZeroDisplay: 'stripIfInteger' });
  const seconds = new Intl.NumberFormat(lang, { maximumFractionDigits: 1 });
  const duration = (value) =>
    Math.round(value) < 1_000 ? `${Math.round(value)} ms` : `${seconds.format(value / 1_000)} s`;
  const textOf = { cents: (value) => amount.format(value / 100), milliseconds: duration };
  const tickOf = { cents: (value) => short.format(value / 100), milliseconds: duration };

  /** To about a third of the picture. */
  const shortened = (label, width) => {
    const most = Math.max(12, Math.floor(width / 24));
    const characters = [...label];
    return characters.length > most ? `${characters.slice(0, most - 1).join('')}…` : label;
  };

  const draw = (canvas) => {
    const {
      labels,
      links,
      series,
      stacked = false,
      lying = false,
      unit,
    } = JSON.parse(canvas.dataset.picture);
    const [values, names] = lying ? ['x', 'y'] : ['y', 'x'];
    const ink = colour('--pico-muted-color');
    const grid = colour('--pico-muted-border-color');
    drawn.get(canvas)?.destroy();
    const chart = new Chart(canvas, {
      type: 'bar',
      data: {
        labels,
        datasets: series.map(({ name, meaning, values: data }) => ({
          label: name,
          data,
          backgroundColor: colour(`--picture-${meaning}`),
          maxBarThickness: 48,
        })),
      },
      options: {
        animation: false,
        responsive: true,
        maintainAspectRatio: false,
        indexAxis: lying ? 'y' : 'x',
        interaction: { mode: 'index', intersect: false, axis: names },
        scales: {
          [names]: {
            stacked,
            grid: { display: false },
            border: { color: grid },
            ticks: {
              color: ink,
              maxRotation: 0,
              autoSkipPadding: 12,
              // Bars that lie have a name each; a longer one stands whole where one points at it, and in the table.
              ...(lying && {
                autoSkip: false,
                callback: (_, at) => shortened(labels[at], canvas.clientWidth),
              }),
            },
          },
          [values]: {
            stacked,
            beginAtZero: true,
            grid: { color: grid },
            border: { display: false },
            ticks: { color: ink, maxTicksLimit: 6, callback: tickOf[unit] },
          },
        },
        onClick: (_, [hit]) => hit && links && location.assign(links[hit.index]),
        onHover: ({ native }, [hit]) => (native.target.style.cursor = hit && links ? 'pointer' : ''),
        plugins: {
          legend: {
            display: series.length > 1,
            position: 'bottom',
            labels: { color: ink, boxWidth: 12, boxHeight: 12 },
          },
          tooltip: {
            filter: ({ raw }) => raw !== null && raw !== 0,
            callbacks: { label: ({ dataset, raw }) => `${dataset.label}: ${textOf[unit](raw)}` },
          },
        },
      },
    });
    drawn.set(canvas, chart);
  };

  const drawAll = () => {
    for (const canvas of drawn.keys())
      if (!canvas.isConnected) {
        drawn.get(canvas).destroy();
        drawn.delete(canvas);
      }
    for (const canvas of document.querySelectorAll('canvas[data-picture]'))
      if (!drawn.has(canvas)) draw(canvas);
  };

  addEventListener('DOMContentLoaded', drawAll);
  document.addEventListener('htmx:after:swap', drawAll);
  dark.addEventListener('change', () => {
    for (const canvas of [...drawn.keys()]) draw(canvas);
  });
}
