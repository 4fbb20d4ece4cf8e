import BenchMemory
import Foundation
import Linnet

/// The server in a separate process, so that its memory is not measured.
struct ServerProcess {
    let base: URL
    let anchors: TrustAnchors
    private let process = Process()
    private let input = Pipe()

    init(_ wire: Wire) throws {
        let output = Pipe()
        process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["serve", wire.rawValue]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        var line = Data()
        while line.last != UInt8(ascii: "\n") {
            guard let byte = try output.fileHandleForReading.read(upToCount: 1), !byte.isEmpty else {
                throw Failure("The server ended before it printed its port.")
            }
            line.append(byte)
        }
        try output.fileHandleForReading.close()
        let words = String(decoding: line.dropLast(), as: UTF8.self).split(separator: " ").map(String.init)
        guard words.count == 2, let root = Data(base64Encoded: words[1]),
            let base = URL(string: "\(wire == .tls ? "https" : "http")://127.0.0.1:\(words[0])/")
        else { throw Failure("The server's output is invalid: \(words)") }
        self.base = base
        let file = FileManager.default.temporaryDirectory.appending(path: "linnet-leaks-\(getpid()).pem")
        try root.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        anchors = try .file(file.path)
    }

    /// Ends the server by closing its input.
    func end() {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}
