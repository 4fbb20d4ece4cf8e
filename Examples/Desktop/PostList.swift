import CAdwaita
import FoundationEssentials

/// The timeline as a list, whose pictures are loaded when their posts come into view.
@MainActor
final class PostList {
    let widget: Widget = gtk_scrolled_window_new()
    private let list: Widget = gtk_list_box_new().styled("boxed-list").inset(12).named("Timeline")
    private let model: TimelineModel
    private var rows: [PostRow] = []

    init(_ model: TimelineModel) {
        self.model = model
        let clamp: Widget = adw_clamp_new()
        adw_clamp_set_maximum_size(clamp.own, 720)
        gtk_widget_set_valign(list, GTK_ALIGN_START)
        adw_clamp_set_child(clamp.own, list)
        gtk_scrolled_window_set_child(widget.own, clamp)
        gtk_scrolled_window_set_policy(widget.own, GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC)
        // The list has another length, or another part of it is in view.
        for signal in ["changed", "value-changed"] {
            let handler = Handler { [weak self] in
                // The rows have their places when the queue's turn comes.
                Task { self?.loadPictures() }
            }
            handler.connect(to: gtk_scrolled_window_get_vadjustment(widget.own), signal)
        }
        Handler { [model] in model.perform(.refresh, on: nil) }.connect(to: widget, "edge-overshot")
    }

    /// The post that commands apply to: the selected one, or the first.
    var selected: Post? {
        let row = gtk_list_box_get_selected_row(list.own)
        let index = row.map { Int(gtk_list_box_row_get_index($0)) } ?? 0
        return rows.indices.contains(index) ? rows[index].post : nil
    }

    func show(_ state: TimelineState, now: Date) {
        if state.posts != rows.map(\.post) { replaceRows(state.posts) }
        for row in rows { row.show(state.avatars[row.post.user], now: now) }
    }

    private func replaceRows(_ posts: [Post]) {
        let selection = gtk_list_box_get_selected_row(list.own) == nil ? nil : selected?.id
        for row in rows { gtk_list_box_remove(list.own, row.widget) }
        rows = posts.map { post in PostRow(post) { [model] in model.perform(.download, on: post) } }
        for row in rows { gtk_list_box_append(list.own, row.widget) }
        guard let row = rows.first(where: { $0.post.id == selection }) else { return }
        gtk_list_box_select_row(list.own, row.widget.cast())
    }

    private func loadPictures() { model.loadPictures(of: rows.filter { $0.isNear(widget) }.map(\.post)) }
}
