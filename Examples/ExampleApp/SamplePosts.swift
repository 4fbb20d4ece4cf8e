/// The posts of the embedded server.
enum SamplePosts {
    /// 48 posts, newest first.
    static let posts: [Post] = (0..<48).map { index in
        let name = names[index % names.count]
        return Post(
            id: 1_000 - index, text: texts[index % texts.count] + " (\(48 - index) of 48)",
            user: User(username: name, avatarImage: AvatarImage(url: "https://localhost/avatars/\(name).png")))
    }

    private static let names = ["ada", "barbara", "claude_s", "dennis", "edsger", "frances", "grace"]
    private static let texts = [
        "A pin is a promise to one key: keep a backup.",
        "The connection was reused before the kettle boiled.",
        "Close_notify first, then goodbye.",
        "A timeout without a name is only a rumour.",
        "Chunked: so many small steps, one long road.",
        "Who cancels early sends least.",
        "Grüße aus dem Maschinenraum: alle Zeiger im grünen Bereich.",
        "Backpressure is politeness with numbers.",
        "Measured twice, and the second time was faster.",
        "Trust is good, a verified chain is better.",
        "A small bird sings on a thin wire. 🐦",
    ]
}
