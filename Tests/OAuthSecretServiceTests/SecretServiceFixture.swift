import CommandSupport
import FoundationEssentials
import LinnetOAuth
import Testing

@testable import LinnetOAuthSecretService

#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

/// A message bus and a keyring in a folder of their own. The process that starts them does not use them: GLib keeps one
/// connection to a bus for the whole process, so that the tests run in processes of their own.
struct SecretServiceFixture {
    static var isInstalled: Bool {
        ["dbus-daemon", "gnome-keyring-daemon"].allSatisfy { name in
            let folders = ["/usr/bin", "/usr/local/bin", "/bin"]
            return folders.contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(name)") }
        }
    }

    /// The services that the bus starts when they are used.
    enum Services { case none, silent }

    let folder: String

    /// Runs a test with a folder, and ends the programs in it afterwards.
    static func with(_ body: (SecretServiceFixture) async throws -> Void) async throws {
        try await Scratch.with { scratch in
            let fixture = SecretServiceFixture(folder: scratch.path)
            for name in ["run", "data", "state", "services"] { mkdir(scratch.file(name), 0o700) }
            do {
                try await body(fixture)
                fixture.end()
            } catch {
                fixture.end()
                throw error
            }
        }
    }

    // MARK: The programs

    /// Starts the bus, and returns when it listens.
    func startBus(_ services: Services = .none) async throws {
        let configuration = """
            <busconfig><type>session</type><listen>unix:path=\(folder)/bus</listen><auth>EXTERNAL</auth>
            <servicedir>\(folder)/services</servicedir>
            <policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>
            <allow own="*"/></policy></busconfig>
            """
        try Data(configuration.utf8).write(to: URL(filePath: folder + "/bus.conf"))
        if services == .silent {
            let service = "[D-BUS Service]\nName=org.freedesktop.secrets\nExec=/bin/sleep 20\n"
            try Data(service.utf8).write(to: URL(filePath: folder + "/services/org.freedesktop.secrets.service"))
        }
        let bus = try await Command.run(["dbus-daemon", "--config-file=\(folder)/bus.conf", "--fork", "--print-pid=1"])
        try #require(bus.status == 0, "\(bus.errors)")
        try note(bus.text, "bus")
    }

    /// Starts the keyring, which is unlocked or, after it has existed before, locked.
    func startKeyring(unlocked: Bool) async throws {
        let unlock = unlocked ? "--unlock" : ""
        let script = """
            printf secret >"$1/password"
            XDG_DATA_HOME="$1/data" XDG_RUNTIME_DIR="$1/run" HOME="$1" DBUS_SESSION_BUS_ADDRESS="unix:path=$1/bus" \
            exec gnome-keyring-daemon --foreground --components=secrets \(unlock) <"$1/password" >/dev/null 2>&1 &
            echo $!
            """
        try note(try await Command.run(["sh", "-c", script, "sh", folder]).text, "keyring")
    }

    private func note(_ process: String, _ name: String) throws {
        try Data(process.utf8).write(to: URL(filePath: "\(folder)/\(name).pid"))
    }

    /// Ends a program, and waits until it has ended.
    func end(_ name: String) {
        let file = "\(folder)/\(name).pid"
        guard let text = try? String(contentsOfFile: file, encoding: .utf8),
            let process = pid_t(text.filter(\.isNumber)), process > 1
        else { return }
        unlink(file)
        kill(process, SIGTERM)
        // It is the child of another process, which does not always reap it.
        for _ in 0..<500 where Self.runs(process) { usleep(10_000) }
        kill(process, SIGKILL)
    }

    private static func runs(_ process: pid_t) -> Bool {
        guard let state = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8) else { return false }
        return !state.contains(") Z ")
    }

    func end() {
        for name in ["keyring", "bus"] { end(name) }
    }

    // MARK: The processes of the tests

    /// Makes the bus the one of this process.
    func enter() {
        setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=\(folder)/bus", 1)
        setenv("XDG_STATE_HOME", folder + "/state", 1)
        setenv("XDG_RUNTIME_DIR", folder + "/run", 1)
        setenv("HOME", folder, 1)
    }

    /// The store, once the keyring is on the bus and unlocked.
    func readyStore(_ account: String = "") async throws -> SecretServiceTokenStore {
        let store = try SecretServiceTokenStore("linnet-test", account: account, timeout: .seconds(20))
        while true {
            do {
                _ = try await store.token()
                return store
            } catch let error as OAuthError where [.tokenStoreUnavailable, .tokenStoreLocked].contains(error.code) {
                try await Task.sleep(for: .milliseconds(10))
            }
        }
    }
}

/// The error of an operation; records an issue if there is none.
func oauthError<Value>(_ operation: () async throws -> Value) async -> OAuthError? {
    await #expect(throws: OAuthError.self) { try await operation() }
}
