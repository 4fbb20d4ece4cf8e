import FoundationEssentials

/// The posts of the embedded server.
enum SamplePosts {
    /// The number of posts.
    static let count = 48
    /// The size of each attachment, in bytes.
    static let attachmentSize = 3 << 20

    /// The posts, newest first, of which every third one has an attachment. Pictures and attachments are on the host.
    static func posts(at now: Date, host: String) -> [Post] {
        (0..<count).map { index in
            let (name, id) = (names[index % names.count], 1_000 - index)
            // The parts are valid in a URL.
            let url = { (path: String) in URL(string: "https://\(host)/\(path)") ?? URL(filePath: path) }
            let attachment = Attachment(
                name: "birds-\(id).bin", url: url("attachments/birds-\(id).bin"), size: Int64(attachmentSize))
            return Post(
                id: id, text: texts[index % texts.count] + " (\(count - index) of \(count))",
                user: User(username: name, avatarImage: User.Picture(url: url("avatars/\(name).png"))),
                createdAt: now.addingTimeInterval(-20 - Double(index * index) * 90),
                attachment: index.isMultiple(of: 3) ? attachment : nil)
        }
    }

    static let names = ["ada", "barbara", "clarence", "dennis", "edsger", "frances", "grace"]
    private static let texts = [
        "Keep a backup key in the policy: a pin without one locks the app out when the server's key is replaced.",
        "The second request took 0.4 ms, because the connection was reused.",
        "close_notify tells a complete response from a truncated one.",
        "各ホストに独自のポリシーを設定できます。証明書、公開鍵、失効確認のすべてに対応しています。",
        "A body in chunks needs no Content-Length, so it can be sent while it is made.",
        "Cancelling early saves the rest of the bytes.",
        "Grüße aus dem Maschinenraum: alle Zeiger im grünen Bereich.",
        "Cafe\u{301} logs: combining marks, emoji 👩‍🚀 and flags 🇯🇵 take their place in a terminal, too.",
        "Backpressure: a slow reader holds the server back, and memory stays bounded.",
        "이미지는 한 번만 다운로드되고 캐시에 저장됩니다.",
        "A small bird sings on a thin wire. 🐦",
    ]
}
