import ArgumentParser
import CAdwaita
import FoundationEssentials
import Linnet

/// Shows the timeline in a window of GTK and libadwaita.
@main
@MainActor
struct ExampleDesktop {
    private struct Command: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "ExampleDesktop",
            abstract: "Shows a timeline, fetched over pinned HTTPS, in a window.",
            discussion: """
                Without --url, the app starts a server on the loopback address, with a new certificate, and pins its \
                key. The chain and the host name are always verified.

                Exit codes: 0 success; 1 there is no display, or the app could not begin; 64 usage error.
                """)

        @OptionGroup var options: TimelineOptions
    }

    static func main() {
        let options = Command.parseOrExit().options
        guard gtk_init_check() != 0 else { Command.exit(withError: Failure(message: "GTK cannot open a display.")) }
        g_set_application_name("Linnet timeline")
        adw_init()
        do {
            try MainLoop.run { try await options.withClient { try await show($0, options) } }
        } catch let error as SessionError {
            Command.exit(withError: Failure(message: error.explanation))
        } catch {
            Command.exit(withError: error)
        }
    }

    /// Shows a client's timeline until the window is closed or a signal ends the app.
    private static func show(_ client: TimelineClient, _ options: TimelineOptions) async throws {
        let model = try await options.model(client)
        let window = TimelineWindow(model)
        let signals = Task {
            await Signals.termination()
            window.close()
        }
        await window.run()
        signals.cancel()
        await model.end()
    }

    private struct Failure: Error, CustomStringConvertible {
        let message: String
        var description: String { message }
    }
}
