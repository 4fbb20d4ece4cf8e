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
/// A shell stops and starts the server on request. It waits for its end, or for the end of the test process, however it
/// ends, and then stops the server and removes the folder.
struct PostgresServer: Sendable {
    /// The TLS settings of a server, which then also listens on an address, and accepts no other connections there.
    struct TLS {
        let certificateChain, privateKey: String
    }

    struct CannotStart: Error {
        let log: String
    }

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

    /// The server of the tests that need none of their own. The first of them starts it.
    private static let shared = Result { try PostgresServer() }

    /// The connection string of the shared server.
    static func connectionString() throws -> String { try shared.get().connectionString }

    /// The folder of the server, with its socket.
    let folder: String
    /// The address at which a server with TLS listens. No other program listens there.
    let address = (1...3).reduce("127") { text, _ in "\(text).\(Int.random(in: 1...250))" }
    /// The shell that starts and stops the server.
    private let shell: pid_t
    /// The end of the pipe from which the shell reads requests.
    private let requests: Int32

    /// The connection string of the Unix socket.
    var connectionString: String { "host=\(folder) user=linnet dbname=postgres" }
    /// The path of the Unix socket.
    var socket: String { folder + "/.s.PGSQL.5432" }

    /// The server refuses to run as root, and then runs as the user of Debian's package, or as nobody.
    private static let script = """
        trap '' INT TERM HUP
        programs=$1
        folder=$2
        shift 2
        if [ "$(id -u)" = 0 ]; then
            user=$(id -u postgres 2>/dev/null || id -u nobody)
            chown -R "$user" "$folder"
            as() { exec setpriv --reuid="$user" --regid="$(id -g "$user")" --clear-groups -- "$@"; }
        else
            as() { exec "$@"; }
        fi
        cd "$folder"
        (as "$programs/initdb" -D "$folder/data" -A trust -U linnet --no-sync -E UTF8 --locale=C) \\
            >"$folder/log" 2>&1 </dev/null
        printf 'local all all trust\\nhostssl all all 127.0.0.0/8 trust\\n' >"$folder/data/pg_hba.conf"
        start() {
            (as "$programs/postgres" -D "$folder/data" -k "$folder" -c listen_addresses= -c fsync=off \\
                -c full_page_writes=off -c max_connections=80 -c shared_buffers=32MB -c timezone=UTC "$@") \\
                >>"$folder/log" 2>&1 </dev/null &
            server=$!
        }
        start "$@"
        while read -r request; do
            case $request in
            stop)
                kill -INT "$server"
                wait "$server"
                touch "$folder/stopped" ;;
            start) start "$@" ;;
            esac
        done
        # Immediate, since connections of the process's children may be open.
        kill -QUIT "$server"
        wait "$server"
        rm -rf "$folder"
        """

    /// Starts a server, and waits until it can be reached.
    init(_ tls: TLS? = nil) throws {
        guard let programs = Self.programs else { throw CannotStart(log: "PostgreSQL is not installed") }
        // The path of a socket has room for about a hundred bytes.
        var template = Array("/tmp/linnet-postgres-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw CannotStart(log: "no folder") }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        var options: [String] = []
        if let tls {
            let (chain, key) = (folder + "/chain.pem", folder + "/key.pem")
            try Data(tls.certificateChain.utf8).write(to: URL(filePath: chain))
            try Data(tls.privateKey.utf8).write(to: URL(filePath: key))
            // A key that others can read is refused.
            chmod(key, 0o600)
            options = [
                "listen_addresses=\(address)", "ssl=on", "ssl_cert_file=\(chain)", "ssl_key_file=\(key)",
            ].flatMap { ["-c", $0] }
        }
        (shell, requests) = try Self.spawn(["sh", "-c", Self.script, "postgres", programs, folder] + options)
        do {
            try awaitStart()
        } catch {
            end()
            throw error
        }
    }

    /// Ends the server. The shared one ends with the process.
    ///
    /// The shell is waited for: Swift Testing waits for any child that has ended, and would find this one again and
    /// again instead of an exit test's.
    func end() {
        close(requests)
        var status: Int32 = 0
        while waitpid(shell, &status, 0) < 0, errno == EINTR {}
    }

    /// Stops the server, which ends its connections, and waits for its end.
    func stop() async throws {
        try request("stop")
        while unlink(folder + "/stopped") != 0 { try await Task.sleep(for: .milliseconds(5)) }
    }

    /// Starts the server again. It can be reached later.
    func start() throws { try request("start") }

    private func request(_ text: String) throws {
        let line = Array((text + "\n").utf8)
        guard write(requests, line, line.count) == line.count else { throw CannotStart(log: "no shell") }
    }

    private func awaitStart() throws {
        let deadline = ContinuousClock.now + .seconds(60)
        while true {
            do {
                _ = try PostgresConnection(connectionString, timeout: .seconds(5))
                return
            } catch  where .now < deadline {
                usleep(50_000)
            } catch {
                let log = try? String(contentsOfFile: folder + "/log", encoding: .utf8)
                throw CannotStart(log: "\(error)\n\(log ?? "")")
            }
        }
    }

    /// Starts a program that reads the end of this process as the end of its input; returns it, and the pipe to it.
    private static func spawn(_ command: [String]) throws -> (process: pid_t, input: Int32) {
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
            close(ends[1])
            throw CannotStart(log: "no shell")
        }
        return (process, ends[1])
    }

    /// Runs a statement on a connection of its own to the shared server.
    @discardableResult
    static func run(_ sql: String, _ values: [String?] = []) throws -> [[String?]] {
        try shared.get().run(sql, values)
    }

    /// Runs a statement on a connection of its own.
    @discardableResult
    func run(_ sql: String, _ values: [String?] = []) throws -> [[String?]] {
        try PostgresConnection(connectionString, timeout: .seconds(10)).query(sql, values, timeout: .seconds(30))
    }
}
