import CAdwaita
import FoundationEssentials
import LinnetImageSerialization

/// A post in the list: the round picture, the author, the age, the text, and a button for the attachment.
@MainActor
final class PostRow {
    let post: Post
    let widget: Widget = gtk_list_box_row_new()
    private let avatar: Widget
    private let age: Widget = Widgets.text().styled("dim-label", "caption")
    private var hasPicture = false
    private var shownAge: String?

    init(_ post: Post, download: @escaping @MainActor () -> Void) {
        self.post = post
        let name = OneLine.text(post.user.username)
        avatar = adw_avatar_new(48, name, 1)
        gtk_widget_set_valign(avatar, GTK_ALIGN_START)
        let text = Widgets.column(
            Widgets.row(Widgets.text(name).styled("heading"), age), Widgets.text(OneLine.text(post.text)).expanded(),
            spacing: 4)
        if let attachment = post.attachment {
            let title = "Download \(OneLine.text(attachment.name)), \(Figures.size(attachment.size))"
            let button = Widgets.button(icon: "folder-download-symbolic", text: title, download)
            gtk_widget_set_halign(button, GTK_ALIGN_START)
            gtk_box_append(text.cast(), button)
        }
        gtk_list_box_row_set_child(widget.cast(), Widgets.row(avatar, text, spacing: 12).inset(12))
    }

    /// Shows the picture when it has arrived, until then the first letters of the name, and the age.
    func show(_ picture: Bitmap?, now: Date) {
        show(age: post.createdAt.map { Figures.age($0, now: now) } ?? "")
        guard !hasPicture, let texture = picture?.makeTexture() else { return }
        adw_avatar_set_custom_image(avatar.own, texture)
        g_object_unref(UnsafeMutableRawPointer(texture))
        hasPicture = true
    }

    private func show(age text: String) {
        guard text != shownAge else { return }
        shownAge = text
        gtk_label_set_text(age.own, text)
        let head = [OneLine.text(post.user.username), text].filter { !$0.isEmpty }.joined(separator: ", ")
        example_set_accessible_label(widget, "\(head): \(OneLine.text(post.text))")
    }

    /// Whether a part of the row is in a window of the list, or half a window away from it.
    func isNear(_ window: Widget) -> Bool {
        var bounds = graphene_rect_t()
        let height = Float(gtk_widget_get_height(window))
        guard gtk_widget_compute_bounds(widget, window, &bounds) != 0, bounds.size.height > 0 else { return false }
        return bounds.origin.y < height * 1.5 && bounds.origin.y + bounds.size.height > -height / 2
    }
}
