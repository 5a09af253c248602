%% SPDX-License-Identifier: Apache-2.0
%%
%% The cases of actors.cpp with Erlang processes (erlang-base). One scheduler per worker:
%%
%%   erl +S W:W +P 4000000 -noshell -pa DIR -run actors_erlang main erlang N W
%%
%% Processes are not supervised, which is less than ours do. Not here: the hand-off to a sleeping
%% worker (PF-10), since the sender would be a process on a scheduler that is awake, and half load
%% (PF-17), since its timers tick in milliseconds.
-module(actors_erlang).
-export([main/1]).

main([_Subject, Size, Threads]) ->
    N = list_to_integer(Size),
    Workers = list_to_integer(Threads),
    wanted("ping", fun() -> ring("PF-1", "ping-pong", 2, 4 * N, 2) end),
    wanted("four", fun() -> four_to_one(N div 1000 * 1000) end),
    wanted("ring", fun() -> ring("PF-3", "ring of 503", 503, 4 * N, 1) end),
    wanted("fan", fun() -> fan_out(1000, N div 1000) end),
    wanted("pairs", fun() -> random_pairs(64, 2 * N div 64) end),
    wanted("skynet", fun() -> skynet(leaves(1, N)) end),
    [wanted("memory", fun() -> memory(N) end) || Workers == 1],
    wanted("idle", fun() -> idle(if N >= 1000000 -> 2000; true -> 500 end) end),
    halt(0).

wanted(Name, Work) ->
    case os:getenv("BENCH_ONLY") of
        false -> Work();
        Only ->
            case string:find(Only, Name) of
                nomatch -> ok;
                _ -> Work()
            end
    end.

%% {CPU, wall} in nanoseconds. The CPU time is that of all threads, in steps of a millisecond.
spent(Work) ->
    {Cpu, _} = statistics(runtime),
    Wall = erlang:monotonic_time(nanosecond),
    Work(),
    {CpuAfter, _} = statistics(runtime),
    {(CpuAfter - Cpu) * 1.0e6, (erlang:monotonic_time(nanosecond) - Wall) * 1.0}.

report(Id, Name, N, Unit, Value, Wall) ->
    io:format("{\"id\": \"~s\", \"case\": \"~s\", \"n\": ~b, \"unit\": \"~s\", "
              "\"value\": ~.4f, \"wall\": ~.4f}~n", [Id, Name, N, Unit, Value, Wall]).

measure(Id, Name, Operations, Work) ->
    {Cpu, Wall} = spent(Work),
    report(Id, Name, Operations, "ns", Cpu / Operations, Wall / Operations).

await(What) -> receive What -> ok end.
end_all(Pids) -> [exit(P, kill) || P <- Pids].

%% ---- ping-pong and ring

passer(Main) -> receive {next, To} -> passer(Main, To) end.
passer(Main, To) ->
    receive
        0 -> Main ! done;
        N -> To ! N - 1
    end,
    passer(Main, To).

ring(Id, Name, Count, Hops, PerOperation) ->
    Main = self(),
    All = [spawn(fun() -> passer(Main) end) || _ <- lists:seq(1, Count)],
    [First | Rest] = All,
    [P ! {next, To} || {P, To} <- lists:zip(All, Rest ++ [First])],
    Once = fun(N) -> First ! N, await(done) end,
    Once(Hops div 10),
    measure(Id, Name, Hops div PerOperation, fun() -> Once(Hops) end),
    end_all(All).

%% ---- four to one

consumer(Main) -> receive {go, Count} -> consumer(Main, Count) end.
consumer(Main, 0) -> Main ! done, consumer(Main);
consumer(Main, Left) -> receive N when is_integer(N) -> consumer(Main, Left - 1) end.

producer(To) ->
    receive
        {go, Count} ->
            send_all(To, 1000),
            [self() ! {go, Count - 1000} || Count > 1000]
    end,
    producer(To).
send_all(_, 0) -> ok;
send_all(To, I) -> To ! I, send_all(To, I - 1).

four_to_one(Each) ->
    Main = self(),
    To = spawn(fun() -> consumer(Main) end),
    From = [spawn(fun() -> producer(To) end) || _ <- lists:seq(1, 4)],
    Once = fun() -> To ! {go, 4 * Each}, [P ! {go, Each} || P <- From], await(done) end,
    Once(),
    measure("PF-2", "4 producers to 1", 4 * Each, Once),
    end_all([To | From]).

%% ---- fan-out

counting(Main, Each, 0) -> Main ! counted, counting(Main, Each, Each);
counting(Main, Each, Left) -> receive N when is_integer(N) -> counting(Main, Each, Left - 1) end.

fan(To) -> receive {go, Count} -> fan_rounds(To, Count), fan(To) end.
fan_rounds(_, 0) -> ok;
fan_rounds(To, I) -> fan_round(To, I), fan_rounds(To, I - 1).
fan_round([], _) -> ok;
fan_round([P | Rest], I) -> P ! I, fan_round(Rest, I).

await_all(_, 0) -> ok;
await_all(What, Left) -> await(What), await_all(What, Left - 1).

fan_out(Count, Rounds) ->
    Main = self(),
    To = [spawn(fun() -> counting(Main, Rounds, Rounds) end) || _ <- lists:seq(1, Count)],
    Fan = spawn(fun() -> fan(To) end),
    Once = fun() -> Fan ! {go, Rounds}, await_all(counted, Count) end,
    Once(),
    Once(),
    measure("PF-4", "fan-out 1,000 x 1,000", Count * Rounds, Once),
    end_all([Fan | To]).

%% ---- random pairs

pairing(Main) -> receive {all, All} -> pairing(Main, All, 0, erlang:phash2(self(), 65536)) end.
pairing(Main, All, Left, Seed) ->
    receive
        {ping, From} ->
            From ! pong,
            pairing(Main, All, Left, Seed);
        pong when Left > 1 ->
            pairing(Main, All, Left - 1, ping_somebody(All, Seed));
        pong ->
            Main ! counted,
            pairing(Main, All, 0, Seed);
        {go, Count} ->
            pairing(Main, All, Count, ping_somebody(All, Seed))
    end.
ping_somebody(All, Seed) ->
    Next = (Seed * 75 + 74) rem 65537,
    element(Next rem tuple_size(All) + 1, All) ! {ping, self()},
    Next.

random_pairs(Count, Each) ->
    Main = self(),
    All = [spawn(fun() -> pairing(Main) end) || _ <- lists:seq(1, Count)],
    [P ! {all, list_to_tuple(All)} || P <- All],
    Once = fun(N) -> [P ! {go, N} || P <- All], await_all(counted, Count) end,
    Once(Each div 10 + 1),
    measure("PF-5", "random pairs of 64", Each * Count, fun() -> Once(Each) end),
    end_all(All).

%% ---- skynet: spawn, reply, end

leaves(Count, N) when Count * 10 =< N -> leaves(Count * 10, N);
leaves(Count, _) -> Count.

node(Parent, First, 1) -> Parent ! First;
node(Parent, First, Size) ->
    Self = self(),
    Part = Size div 10,
    [spawn(fun() -> node(Self, First + I * Part, Part) end) || I <- lists:seq(0, 9)],
    Parent ! total(0, 10).
total(Sum, 0) -> Sum;
total(Sum, Left) -> receive Value -> total(Sum + Value, Left - 1) end.

tree_actors(0) -> 0;
tree_actors(Leaves) -> Leaves + tree_actors(Leaves div 10).

skynet(Leaves) ->
    Main = self(),
    Expected = Leaves * (Leaves - 1) div 2,
    Once = fun() ->
        spawn(fun() -> node(Main, 0, Leaves) end),
        receive Expected -> ok end
    end,
    Once(),
    measure("PF-6", "skynet: spawn, reply, end", tree_actors(Leaves), Once).

%% ---- memory

waiting(Value) -> receive N -> waiting(N) end, Value.

resident_bytes() ->
    {ok, Text} = file:read_file("/proc/self/statm"),
    [_, Pages | _] = string:lexemes(binary_to_list(Text), " "),
    list_to_integer(Pages) * 4096.

memory(Count) ->
    Before = resident_bytes(),
    spawn_waiting(Count),
    Each = (resident_bytes() - Before) / Count,
    report("PF-7", "bytes per idle actor", Count, "bytes", Each, Each).
spawn_waiting(0) -> ok;  % nobody keeps a list of them: it would be counted
spawn_waiting(Left) ->
    Main = self(),
    spawn(fun() -> Main ! begun, waiting(0) end),
    await(begun),
    spawn_waiting(Left - 1).

%% ---- time

idle(Length) ->
    All = list_to_tuple([spawn(fun() -> waiting(0) end) || _ <- lists:seq(1, 1000)]),
    Percent = fun(Work) ->
        timer:sleep(100),
        {Cpu, Wall} = spent(Work),
        100 * Cpu / Wall
    end,
    Idle = Percent(fun() -> timer:sleep(Length) end),
    report("PF-15", "CPU % while idle, 1,000 actors", 1000, "%", Idle, Idle),
    Slow = Percent(fun() -> slowly(All, Length div 20) end),
    report("PF-16", "CPU % at 50 messages/s", 1000, "%", Slow, Slow).
slowly(_, 0) -> ok;
slowly(All, Left) ->
    timer:sleep(20),
    element(Left rem 1000 + 1, All) ! Left,
    slowly(All, Left - 1).
