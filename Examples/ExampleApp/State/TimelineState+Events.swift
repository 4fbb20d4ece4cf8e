import FoundationEssentials
import LinnetImageSerialization

extension TimelineState {
    /// Changes the state, and returns the app's actions.
    mutating func apply(_ event: TimelineEvent) -> [TimelineEffect] {
        switch event {
        case .started: return [.refresh]
        case .key(let key): return apply(key)
        case .command(let command): return apply(command)
        case .resized(let size):
            self.size = size
            showSelection()
        case .tick(let time):
            now = time
            step += 1
        case .live(let live): show(live)
        case .loaded(let posts, let facts): return load(posts, facts)
        case .failed(let message, let refusal):
            self.refusal = refusal
            say(message, isError: true)
            showSelection()
        case .avatar(let user, let picture): show(picture, of: user)
        case .ended(let code): exitCode = exitCode ?? code
        }
        return []
    }

    private mutating func apply(_ key: Key) -> [TimelineEffect] {
        if case .answer(let text) = key {
            usesKitty = usesKitty || KittyGraphics.isSupported(by: text)
            return []
        }
        switch key {
        case .character("q"), .control("c"): exitCode = exitCode ?? 0
        case .escape: panel = nil
        case .character("?"), .character("h"): toggle(.help)
        case .character("i"): toggle(.metrics)
        case .character("p"): toggle(.trust)
        case .character("n"): toggle(.network)
        case .down, .character("j"): select(selected + 1)
        case .up, .character("k"): select(selected - 1)
        case .pageDown, .character(" "): select(selected + max(1, layout.visible.count - 1))
        case .pageUp, .character("b"): select(selected - max(1, layout.visible.count - 1))
        case .home, .character("g"): select(0)
        case .end, .character("G"): select(posts.count - 1)
        case .character("r"): return apply(.refresh)
        case .character("d"): return apply(.download(post: nil))
        case .character("s"): return apply(.suspend)
        case .character("c"): return apply(.cancel)
        case .character("u"): return apply(.upload)
        default: break
        }
        return []
    }

    private mutating func apply(_ command: TimelineCommand) -> [TimelineEffect] {
        let isTransferring = live.transfer?.isActive == true
        switch command {
        case .refresh:
            return live.isRefreshing ? [] : [.refresh]
        case .download(let id):
            if let id {
                guard let index = posts.firstIndex(where: { $0.id == id }) else {
                    return refuse("This post is no longer there.")
                }
                select(index)
            }
            guard !isTransferring else { return refuse("A transfer is running; cancel it first (c).") }
            guard let attachment = selectedPost?.attachment else { return refuse("This post has no attachment.") }
            return [.download(attachment)]
        case .upload:
            return isTransferring ? refuse("A transfer is running; cancel it first (c).") : [.upload]
        case .suspend:
            return isTransferring ? [.suspendOrResume] : refuse("No transfer is running.")
        case .cancel:
            return isTransferring ? [.cancelTransfer] : refuse("No transfer is running.")
        }
    }

    private mutating func load(_ posts: [Post], _ facts: ResponseFacts) -> [TimelineEffect] {
        let current = selectedPost?.id
        self.posts = posts
        selected = posts.firstIndex { $0.id == current } ?? 0
        var shown = facts
        if facts.httpVersion == nil, let previous = self.facts {
            // A response of the cache used no connection: the last one is shown.
            shown.httpVersion = previous.httpVersion
            shown.encryption = previous.encryption
            (shown.isPinned, shown.pins) = (previous.isPinned, previous.pins)
        }
        self.facts = shown
        refusal = []
        say(posts.isEmpty ? "The timeline is empty." : nil)
        showSelection()
        let users = Set(posts.map(\.user))
        avatars = avatars.filter { users.contains($0.key) }
        let missing = users.filter { avatars[$0] == nil }
        return missing.isEmpty ? [] : [.loadAvatars(missing.sorted { $0.username < $1.username })]
    }

    private mutating func show(_ picture: Bitmap, of user: User) {
        if avatars[user] == nil { lastAvatar += 1 }
        avatars[user] = Avatar(number: avatars[user]?.number ?? lastAvatar, picture: picture)
    }

    /// Shows the values of the observable objects, and says when a transfer has ended.
    private mutating func show(_ live: LiveState) {
        let wasActive = self.live.transfer?.isActive == true
        self.live = live
        guard wasActive, let transfer = live.transfer, !transfer.isActive else { return }
        let detail = transfer.detail.map { ": \($0)" } ?? ""
        say("\(transfer.name) \(transfer.phase.rawValue)\(detail)", isError: transfer.phase == .failed)
    }

    private mutating func toggle(_ panel: Panel) {
        self.panel = self.panel == panel ? nil : panel
    }

    private mutating func select(_ index: Int) {
        selected = max(0, min(index, posts.count - 1))
        showSelection()
    }

    private mutating func showSelection() {
        top = layout.top(showing: selected)
    }

    private mutating func say(_ text: String?, isError: Bool = false) {
        message = text
        self.isError = isError
    }

    private mutating func refuse(_ text: String) -> [TimelineEffect] {
        say(text)
        return []
    }
}
