import BenchMemory
import Foundation
import Linnet

/// The server in a separate process, so that its memory is not measured.
struct ServerProcess {
    let base: URL
    let anchors: TrustAnchors
    private let process: Spawn

    init(_ wire: Wire) throws {
        process = try Spawn(["/proc/\(getpid())/exe", "serve", wire.rawValue])
        let words = try process.readLine().split(separator: " ").map(String.init)
        guard words.count == 2, let root = Data(base64Encoded: words[1]),
            let base = URL(string: "\(wire == .tls ? "https" : "http")://127.0.0.1:\(words[0])/")
        else { throw Failure("The server's output is invalid: \(words)") }
        self.base = base
        let file = FileManager.default.temporaryDirectory.appending(path: "linnet-leaks-\(getpid()).pem")
        try root.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        anchors = try .file(file.path)
    }

    func end() { process.end() }
}
