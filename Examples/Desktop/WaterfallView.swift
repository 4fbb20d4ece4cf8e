import CAdwaita

/// The last requests as bars on one axis of time.
@MainActor
final class WaterfallView {
    let widget = Widgets.column(spacing: 6)
    private var shown: Waterfall?

    func show(_ waterfall: Waterfall) {
        guard waterfall != shown else { return }
        shown = waterfall
        while let child = gtk_widget_get_first_child(widget) { gtk_box_remove(widget.cast(), child) }
        guard !waterfall.rows.isEmpty else { return }
        gtk_box_append(widget.cast(), legend)
        for row in waterfall.rows {
            gtk_box_append(widget.cast(), Widgets.text(OneLine.text(row.name)).styled("caption-heading"))
            gtk_box_append(widget.cast(), BarDrawing(row.bars).widget.named("\(row.name), \(row.figures)"))
            gtk_box_append(widget.cast(), Widgets.text(OneLine.text(row.figures)).styled("caption", "dim-label"))
        }
    }

    private var legend: Widget {
        let legend = Widgets.text().styled("caption")
        let parts = RequestTrace.Part.allCases.map { part in
            let digits = part.color.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            return "<span color=\"#\(digits)\">■</span> \(part.rawValue)"
        }
        gtk_label_set_markup(legend.own, parts.joined(separator: "  "))
        return legend
    }
}

/// The bars of one request.
@MainActor
private final class BarDrawing {
    let widget: Widget = gtk_drawing_area_new()
    private let bars: [Waterfall.Bar]

    init(_ bars: [Waterfall.Bar]) {
        self.bars = bars
        gtk_drawing_area_set_content_height(widget.cast(), 8)
        let draw: GtkDrawingAreaDrawFunc = { _, cairo, width, height, data in
            guard let data, let cairo else { return }
            let drawing = Unmanaged<BarDrawing>.fromOpaque(data).takeUnretainedValue()
            for bar in drawing.bars { BarDrawing.draw(bar, cairo, width: Double(width), height: Double(height)) }
        }
        gtk_drawing_area_set_draw_func(widget.cast(), draw, Unmanaged.passRetained(self).toOpaque()) { data in
            if let data { Unmanaged<BarDrawing>.fromOpaque(data).release() }
        }
    }

    private nonisolated static func draw(
        _ bar: Waterfall.Bar, _ cairo: OpaquePointer, width: Double, height: Double
    ) {
        let color = bar.part.color.map { Double($0) / 255 }
        cairo_set_source_rgb(cairo, color[0], color[1], color[2])
        cairo_rectangle(cairo, bar.start * width, 0, max(2, (bar.end - bar.start) * width), height)
        cairo_fill(cairo)
    }
}
