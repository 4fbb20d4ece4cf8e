/// The terminal's own part of the state: the place in the timeline, the open panel, and whether code is shown.
struct TimelineView: Sendable {
    var size: TerminalSize
    /// The identifier of the post that commands apply to; nil for the first one.
    var selection: Int?
    var panel: TimelinePanel?
    /// Whether the line of code that makes an effect is beside it.
    var showsCode = false

    /// The place of the selected post: the first one if it is no longer there.
    func selected(in posts: [Post]) -> Int { posts.firstIndex { $0.id == selection } ?? 0 }

    /// Moves the selection among the posts, of which a page is on the screen, opens or closes a panel, or shows or
    /// hides code. Other keys have no effect.
    mutating func press(_ key: String, posts: [Post], page: Range<Int>) {
        let selected = selected(in: posts)
        switch key {
        case "down", "j": select(selected + 1, of: posts)
        case "up", "k": select(selected - 1, of: posts)
        case "page down", " ": select(page.upperBound, of: posts)
        case "page up", "b": select(page.lowerBound - 1, of: posts)
        case "home", "g": select(0, of: posts)
        case "end", "G": select(posts.count - 1, of: posts)
        case "escape": panel = nil
        case "?": showsCode.toggle()
        default:
            guard let pressed = TimelinePanel.allCases.first(where: { $0.key == key }) else { return }
            panel = panel == pressed ? nil : pressed
        }
    }

    private mutating func select(_ index: Int, of posts: [Post]) {
        selection = posts.isEmpty ? nil : posts[max(0, min(index, posts.count - 1))].id
    }
}
