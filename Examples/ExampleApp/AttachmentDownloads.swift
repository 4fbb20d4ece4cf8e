import FoundationEssentials
import Linnet
import LinnetBackground

/// The downloads of attachments, in a background session: they go on when the app is next started.
struct AttachmentDownloads: Sendable {
    let background: BackgroundSession
    private let session: HTTPSession

    /// Opens the background session of a server, and adopts the downloads of an earlier run.
    ///
    /// - Parameters:
    ///   - name: The name of the server. Each has a background session of its own, since its policy may pin its key.
    ///   - session: The session that sends the requests.
    ///   - directory: Another directory for the journal and the files.
    init(_ name: String, session: HTTPSession, directory: URL? = nil) async throws(BackgroundError) {
        background = try await BackgroundSession("example-app-\(name)", directory: directory) { $0.session = session }
        self.session = session
    }

    /// The folder of the files.
    var folder: URL { background.directory.appending(path: "files") }

    /// Adds a download.
    @discardableResult
    func add(_ attachment: Attachment) async throws(BackgroundError) -> BackgroundTask {
        let file = folder.appending(path: Self.fileName(attachment.name))
        return try await background.download(session.get(attachment.url), to: file) {
            $0.createsDirectories = true
            $0.tag = attachment.name
        }
    }

    /// The name of the file for a name of the server: without folders, and not hidden.
    static func fileName(_ name: String) -> String {
        let last = name.split(separator: "/").last ?? ""
        let visible = last.drop { $0 == "." }
        return visible.isEmpty ? "attachment" : String(visible)
    }
}
