import CAdwaita
import Linnet

/// The current or the last transfer: a bar, its figures, and buttons while it can be suspended or cancelled.
@MainActor
final class TransferBar {
    let widget: Widget
    private let name: Widget = Widgets.text().styled("heading").expanded()
    private let bar: Widget = gtk_progress_bar_new()
    private let figures = Widgets.text().styled("caption", "dim-label")
    /// The line of code.
    let code = Widgets.code()
    private let suspend: Widget
    private let cancel: Widget

    init(_ model: TimelineModel) {
        suspend = Widgets.button(icon: Self.pause, "Suspend", keys: "S") { model.perform(.suspend, on: nil) }
        cancel = Widgets.button(icon: "process-stop-symbolic", "Cancel", keys: "C") { model.perform(.cancel, on: nil) }
        gtk_label_set_wrap(name.own, 0)
        gtk_label_set_ellipsize(name.own, PANGO_ELLIPSIZE_MIDDLE)
        let content = Widgets.column(Widgets.row(name, suspend, cancel), bar, figures, code, spacing: 6)
        widget = Widgets.column(gtk_separator_new(GTK_ORIENTATION_HORIZONTAL), content.inset(12, vertical: 6))
    }

    private static let pause = "media-playback-pause-symbolic"

    func show(_ transfer: Transfer?) {
        widget.isVisible = transfer != nil
        guard let transfer else { return }
        let text = "\(transfer.isUpload ? "Upload" : "Download"): \(OneLine.text(transfer.name))"
        gtk_label_set_text(name.own, text)
        gtk_label_set_text(figures.own, transfer.figures)
        gtk_label_set_text(code.own, transfer.effect.code)
        example_set_accessible_label(bar, text)
        gtk_progress_bar_set_fraction(bar.own, transfer.progress.fraction ?? 0)
        let isSuspended = transfer.phase == .suspended
        gtk_button_set_icon_name(suspend.cast(), isSuspended ? "media-playback-start-symbolic" : Self.pause)
        example_set_accessible_label(suspend, isSuspended ? "Resume" : "Suspend")
        gtk_widget_set_tooltip_text(suspend, isSuspended ? "Resume (S)" : "Suspend (S)")
        for button in [suspend, cancel] { button.isVisible = transfer.isActive }
    }
}
