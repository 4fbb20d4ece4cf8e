import CommandSupport
import FoundationEssentials
import Testing

@testable import LinnetBackgroundPostgres

#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

/// A PostgreSQL server of the tests' own, in a temporary folder, which listens on a Unix socket there.
///
/// The first test in need starts it. A shell waits for the end of the test process, however it ends, and then stops the
/// server and removes the folder.
enum PostgresServer {
    /// The folder of the server's programs; nil if it is not installed.
    private static let programs: String? = {
        let folders = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []
        let versions = folders.sorted { (Int($0) ?? 0) > (Int($1) ?? 0) }.map { "/usr/lib/postgresql/\($0)/bin" }
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        return (versions + path.split(separator: ":").map(String.init)).first {
            FileManager.default.isExecutableFile(atPath: $0 + "/initdb")
                && FileManager.default.isExecutableFile(atPath: $0 + "/postgres")
        }
    }()

    static var isInstalled: Bool { programs != nil }

    /// The connection string of the server.
    static func connectionString() throws -> String { try started.get() }

    struct CannotStart: Error {
        let log: String
    }

    private static let started = Result { try start() }

    /// The server refuses to run as root, and then runs as the user of Debian's package, or as nobody.
    private static let script = """
        trap '' INT TERM HUP
        if [ "$(id -u)" = 0 ]; then
            user=$(id -u postgres 2>/dev/null || id -u nobody)
            chown "$user" "$2"
            as() { exec setpriv --reuid="$user" --regid="$(id -g "$user")" --clear-groups -- "$@"; }
        else
            as() { exec "$@"; }
        fi
        cd "$2"
        (as "$1/initdb" -D "$2/data" -A trust -U linnet --no-sync -E UTF8 --locale=C) >"$2/log" 2>&1 </dev/null
        (as "$1/postgres" -D "$2/data" -k "$2" -c listen_addresses= -c fsync=off -c full_page_writes=off \\
            -c max_connections=80 -c shared_buffers=32MB -c timezone=UTC) >>"$2/log" 2>&1 </dev/null &
        server=$!
        read -r _
        # Immediate, since connections of the process's children may be open.
        kill -QUIT "$server"
        wait "$server"
        rm -rf "$2"
        """

    private static func start() throws -> String {
        guard let programs else { throw CannotStart(log: "PostgreSQL is not installed") }
        // The path of a socket has room for about a hundred bytes.
        var template = Array("/tmp/linnet-postgres-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw CannotStart(log: "no folder") }
        let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        try spawn(["sh", "-c", script, "postgres", programs, folder])
        let connectionString = "host=\(folder) user=linnet dbname=postgres"
        let deadline = ContinuousClock.now + .seconds(60)
        while true {
            do {
                _ = try PostgresConnection(connectionString, timeout: .seconds(5))
                return connectionString
            } catch  where .now < deadline {
                usleep(50_000)
            } catch {
                let log = try? String(contentsOfFile: folder + "/log", encoding: .utf8)
                throw CannotStart(log: "\(error)\n\(log ?? "")")
            }
        }
    }

    /// Starts a program that reads the end of this process as the end of its input.
    private static func spawn(_ command: [String]) throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw CannotStart(log: "no pipe") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[0]) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[0], 0)
        var arguments: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
        defer { arguments.forEach { free($0) } }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // The threads of Dispatch block most signals, which the server needs.
        var noSignals = sigset_t()
        sigemptyset(&noSignals)
        posix_spawnattr_setsigmask(&attributes, &noSignals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var process = pid_t()
        guard posix_spawnp(&process, command[0], &actions, &attributes, &arguments, environ) == 0 else {
            throw CannotStart(log: "no shell")
        }
    }

    /// Runs a statement on a connection of its own.
    @discardableResult
    static func run(_ sql: String, _ values: [String?] = []) throws -> [[String?]] {
        try PostgresConnection(connectionString(), timeout: .seconds(10)).query(sql, values, timeout: .seconds(30))
    }
}
