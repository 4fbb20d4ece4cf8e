import FoundationEssentials
import Linnet
import LinnetBackground

extension BackgroundSession {
    /// Adds a download, which goes on when the app is next started.
    func download(_ attachment: Attachment) async throws(BackgroundError) {
        let file = directory.appending(path: "files").appending(path: attachment.fileName)
        try await download(session.get(attachment.url.absoluteString), to: file) {
            $0.createsDirectories = true
            $0.tag = attachment.name
        }
    }
}

extension Attachment {
    /// A name for the file: without the folders that a server may name, and not hidden.
    var fileName: String {
        let visible = (name.split(separator: "/").last ?? "").drop { $0 == "." }
        return visible.isEmpty ? "attachment" : String(visible)
    }
}
