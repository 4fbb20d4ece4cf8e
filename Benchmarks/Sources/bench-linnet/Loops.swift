import BenchSupport
import Linnet
import NIOPosix

/// Where the connections run, and the tasks that use them.
struct Loops {
    /// `onloop` runs tasks on event loops, `loops=N` says how many loops there are.
    private let isOnLoop: Bool
    private let group: MultiThreadedEventLoopGroup?

    init(_ arguments: Arguments) {
        isOnLoop = arguments.options["onloop"] != nil
        group = arguments.options["loops"].flatMap { Int($0) }.map { MultiThreadedEventLoopGroup(numberOfThreads: $0) }
    }

    var eventLoops: TransportConfiguration.EventLoops { group.map { .group($0) } ?? .shared }

    func executors(_ http: HTTPSession) -> [any TaskExecutor] { isOnLoop ? http.taskExecutors : [] }
}
