import FoundationEssentials

/// The contents of the page, in the form for its script.
struct PageState: Encodable, Equatable {
    struct Entry: Encodable, Equatable {
        /// A number as text, since numbers of a script have 53 bits.
        let id: String
        let name: String
        let text: String
        let time: String?
        let attachment: String?
        /// The path of the picture; nil while there is none.
        let avatar: String?
    }

    let server: String
    let posts: [Entry]
    let live: LiveState
    let facts: ResponseFacts?
    let message: String?
    let isError: Bool

    init(_ state: TimelineState) {
        server = state.server
        posts = state.posts.map { post in
            Entry(
                id: String(post.id), name: post.user.username, text: post.text,
                time: post.createdAt?.formatted(.iso8601),
                attachment: post.attachment.map { "\($0.name), \(Figures.size($0.size))" },
                avatar: state.avatars[post.user].map { "/avatars/\($0.number).png" })
        }
        live = state.live
        facts = state.facts
        message = state.message
        isError = state.isError
    }

    /// The state as a server-sent event.
    var event: Data? {
        guard let json = try? JSONEncoder().encode(self) else { return nil }
        return Data("event: state\ndata: ".utf8) + json + Data("\n\n".utf8)
    }
}
