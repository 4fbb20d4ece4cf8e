import CommandSupport
import FoundationEssentials
import HTTPTypes
import LinnetTesting
import Testing

#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

/// A server of files that change, whose connections break.
protocol ChangingServer: Sendable {
    var url: String { get }
    /// Replaces a file.
    ///
    /// - Returns: The entity tag of the version.
    func set(_ index: Int, _ content: Data, version: Int) throws -> String
    /// Breaks connections that are transferring.
    func disturb() async throws
    /// Lets transfers run at full speed.
    func calm() async throws
    /// The number of uploads that were received whole.
    func uploads() throws -> Int
    /// The downloads in the server's log; none if it has no log.
    func downloads() throws -> [ServedDownload]
}

/// The mock server of this process.
struct MockFileServer: ChangingServer {
    let files: FileServer
    let url: String

    init(_ files: FileServer, _ server: MockServer) {
        self.files = files
        url = server.url.absoluteString
        files.change { $0.throttle = .init(bytes: 64 << 10, pause: .milliseconds(5)) }
    }

    func set(_ index: Int, _ content: Data, version: Int) -> String {
        let tag = "\"v\(version)\""
        files.change {
            $0.files["/\(index)"] = content
            $0.tagsOfPaths["/\(index)"] = tag
        }
        return tag
    }

    func disturb() { files.change { $0.fault = (.reset, 100_000, 3) } }
    func calm() { files.change { $0.throttle = nil } }
    func uploads() -> Int { files.requests.count { $0.method == .put } }
    func downloads() -> [ServedDownload] { [] }
}

/// nginx with a limited rate.
final class NginxFileServer: ChangingServer {
    let url: String
    private let folder: URL
    private let port: Int

    init(in folder: URL) async throws {
        self.folder = folder
        port = try Self.freePort()
        url = "http://127.0.0.1:\(port)"
        for name in ["html", "up", "temp"] {
            try FileManager.default.createDirectory(at: folder.appending(path: name), withIntermediateDirectories: true)
        }
        try await start(rate: "1m")
    }

    private func start(rate: String) async throws {
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
            "\($0)_temp_path \(folder.path)/temp/\($0);"
        }
        // As root, its processes would otherwise be another user's, who cannot write the folder.
        let configuration = """
            \(getuid() == 0 ? "user root;" : "") worker_processes 1; pid \(folder.path)/pid; error_log \(folder.path)/error.log; daemon on;
            events { worker_connections 256; }
            http {
                log_format line '$request_method $uri $status $msec $request_time $body_bytes_sent $http_range '
                    '$sent_http_etag $request_completion';
                access_log \(folder.path)/access.log line; \(temporary.joined(separator: " "))
                server {
                    listen 127.0.0.1:\(port); limit_rate \(rate); client_max_body_size 0;
                    location / { root \(folder.path)/html; }
                    location /up { dav_methods PUT; root \(folder.path)/up; }
                }
            }
            """
        try Data(configuration.utf8).write(to: folder.appending(path: "nginx.conf"))
        try await run()
    }

    private func run(_ arguments: String...) async throws {
        let conf = folder.appending(path: "nginx.conf").path
        let command = try await Command.run(
            ["nginx", "-e", folder.appending(path: "error.log").path, "-p", folder.path, "-c", conf] + arguments)
        try #require(command.status == 0, "\(command.errors)")
    }

    func set(_ index: Int, _ content: Data, version: Int) throws -> String {
        let file = folder.appending(path: "html/\(index)").path
        let new = folder.appending(path: "new").path
        try content.write(to: URL(filePath: new))
        // nginx makes the entity tag of the size and of the time, which has seconds. The time is set before the file
        // has its name: otherwise one change would be two, and a download could begin again twice.
        let time = 1_700_000_000 + version
        let times = [timespec(tv_sec: time, tv_nsec: 0), timespec(tv_sec: time, tv_nsec: 0)]
        try #require(utimensat(AT_FDCWD, new, times, 0) == 0)
        try #require(rename(new, file) == 0)
        return "\"\(String(time, radix: 16))-\(String(content.count, radix: 16))\""
    }

    func disturb() async throws {
        try await stop()
        try await run()
    }

    func calm() async throws {
        try await stop()
        try await start(rate: "0")
    }

    func uploads() throws -> Int { try log().count { $0.first == "PUT" && $0.last == "OK" } }

    func downloads() throws -> [ServedDownload] {
        try log().compactMap { fields -> ServedDownload? in
            guard fields.count >= 8, fields[0] == "GET", let status = Int(fields[2]), let ended = Double(fields[3]),
                let time = Double(fields[4]), let sent = Int64(fields[5])
            else { return nil }
            let ends = fields[6].dropFirst("bytes=".count).split(separator: "-", omittingEmptySubsequences: false)
            let end = ends.last.flatMap { Int64($0) }.map { $0 + 1 } ?? .max
            let range = ends.first.flatMap { Int64($0) }.map { $0..<end }
            // The log escapes quotation marks.
            let tag = fields[7].split(separator: "\\x22", omittingEmptySubsequences: false).joined(separator: "\"")
            return ServedDownload(
                file: "file-\(fields[1].dropFirst())", status: status, entityTag: tag, begin: ended - time, sent: sent,
                range: range)
        }
    }

    private func log() throws -> [[Substring]] {
        try String(contentsOf: folder.appending(path: "access.log"), encoding: .utf8).split(separator: "\n")
            .map { $0.split(separator: " ") }
    }

    func stop() async throws {
        let file = folder.appending(path: "pid")
        guard let text = try? String(contentsOf: file, encoding: .utf8), let process = pid_t(text.filter(\.isNumber))
        else { return }
        kill(process, SIGTERM)
        let deadline = ContinuousClock.now + .seconds(10)
        while kill(process, 0) == 0, .now < deadline { try await Task.sleep(for: .milliseconds(5)) }
    }

    private static func freePort() throws -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) == 0 ? getsockname(descriptor, $0, &size) : -1
            }
        }
        try #require(result == 0)
        return Int(UInt16(bigEndian: address.sin_port))
    }
}
