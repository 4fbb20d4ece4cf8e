import Foundation
import HTTPTypes
import Linnet

extension Exchange {
    /// A body that is made while it is sent.
    private struct Reader: HTTPRequestBodyReader {
        let content: Content
        var offset = 0

        mutating func next() async throws -> Data? {
            let piece = content.piece(at: offset)
            offset += piece?.count ?? 0
            return piece
        }
    }

    func send(_ random: inout Random) async throws {
        let file = worker.file("upload")
        let body = try body(file, &random)
        defer { try? FileManager.default.removeItem(at: file) }
        let response = try await call("upload/0") { $0.body = body }.response()
        try expectEcho(response, of: content, as: kind.method)
    }

    private func body(_ file: URL, _ random: inout Random) throws -> HTTPRequestBody {
        let form = Int.random(in: 0..<4, using: &random)
        switch form {
        case ...1 where draw.size <= 4 << 20: return .data(content.whole)
        case 2 where draw.size <= 4 << 20:
            try content.whole.write(to: file)
            return try .file(file)
        default:
            let content = content
            return .stream(length: form == 3 ? nil : Int64(draw.size), isReplayable: true) { Reader(content: content) }
        }
    }

    /// Sends a POST that is redirected: with its body, or as a GET. Its size is in a field, so that there are few URLs:
    /// a session remembers the last 1,024 that unsafe requests have invalidated.
    func move(_ random: inout Random) async throws {
        let status = random.pick([302, 303, 307, 308])
        let keeps = status >= 307
        let hops = Int.random(in: 1...2, using: &random)
        let path = "hop/\(hops)?status=\(status)&to=\(keeps ? "upload" : "file")"
        let response = try await call(path) {
            $0.headerFields[.size] = "\(draw.size)"
            $0.body = .data(content.whole)
        }.response()
        try expect(response.redirects.count == hops, "\(response.redirects.count) redirects instead of \(hops)")
        if keeps { try expectEcho(response, of: content, as: .post) } else { try expectContent(response.value) }
    }
}
