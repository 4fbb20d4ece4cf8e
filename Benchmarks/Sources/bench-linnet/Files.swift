import BenchSupport
import FoundationEssentials
import Linnet

extension BenchLinnet {
    func file() async throws -> Outcome {
        let file = try arguments.required("file")
        let isDownload = arguments.operation == "download"
        return try await measureThroughput(arguments, prepare: { try await get("1k", 1024) }) {
            if isDownload { try await download(file) } else { try await upload(file) }
        }
    }

    func download(_ file: String) async throws {
        removeFile(file)
        let response = try await http.get(path).download(to: URL(filePath: file))
        try check(status: response.status.code, fileSize(file), of: arguments.bytes)
    }

    /// The server says 201 for a new file and 204 for one that was there; the session refuses what is not 2xx.
    func upload(_ file: String) async throws {
        try await http.call(.put, path).body(file: URL(filePath: file)).response()
    }
}
