# The labels of tests, by suite. ctest reads this for each executable, with `folder` and `names` set;
# tests/tree/labels_test.cpp finds a pattern that no test has.
#   slow     more than five CPU seconds on a quiet machine (scripts/test.sh fails one that lacks the
#            label and takes ten)
#   sanitized-slow   not slow, but more than four CPU seconds under AddressSanitizer, mostly because it runs
#            commands on many traces (scripts/check.sh fails one that lacks the label and takes 20)
#   browser, office, cluster   need Chromium, LibreOffice, or a launcher of jobs
#   waits    mostly sleeps: many of them run at once
#   threads  runs threads of the library: ThreadSanitizer runs it
# scripts/test.sh leaves out slow, browser, office and cluster; scripts/check.sh also sanitized-slow.
# scripts/nightly.sh has a section for each of the five.
set(label_slow
  "base/ChangePoints[.]NoiseHasNoneAndAStepOfTwiceTheNoiseIsFound"
  "analyses/CollectiveStream[.]RandomRunsGiveTheCellsOfTheWholeInMemory"
  "app/RunConsistency[.]EveryCaseHasItsLineInAnalyzeAndCompare"
  "property/(SweepStatements|WhatChangedTruth|CompareTruth|NullTables|CompareNull)[.]"
  "golden/ReportOptionsGolden[.]OfOneObjectDoNotMixOnRealTraces"
  "readers/HostileExport[.]PagesThatNameEachOtherManyTimesEnd"
  "app/Watch[.]QuietJobsHaveNoAlarmAndAStragglerIsTold"
  "property/ExtremeTimes[.]WhatDoesNotFitIsCountedAndNothingIsNegative"
  "cli/(Bombs|RankMatrixLarge|LittleMemory|OutputsThatAreInputs)[.]" "cli/Partial[.](RunsAreComparedAsByOneProcess|ASweepIsAnalysedAsByOneProcess|RealRunsToo)"
  "cli/Tutorial[.]" "cli/List/RankCommands[.]" "cli/(WhyOfManyRuns|WhyMatrix)[.]" "cli/EveryCause/WhyMatrixRow[.]" "cli/Export[.]TheDatasetIsReadBackAsItIsInTheTraces"
  "cli/Page[.]OfASweepIsTheSameFromTracesAndFromWhatAnalyzeLeft"
  "cli/Analyze[.]ARerunRedoesOnlyWhatChanged" "faults/FaultyRun[.]")
set(label_sanitized-slow
  "analyses/(WatchJudge[.]AQuietJobRaisesNoAlarm|PairSteps[.]TimeGrowsAsTheNumberOfSteps)"
  "app/(CachedFactsOfCommands|RunConsistency)[.]" "findings/SweepCompare[.]"
  "property/(SlowLinkRates[.]|MergedTrace[.]RealTraces|Steps[.]CostIsLinearInTheNumberOfSteps)"
  "golden/(SameValues|ReportOptionsGolden|Top|ReportCategories)[.]" "golden/Jobs/WhatIfGolden[.].*/SE"
  "cli/EveryCause/WhyInjected[.]" "cli/(WhyOfRanks|WhyHidden|WhyInTop|WhatIf|RankMatrix|Statements|SweepRuns|Kills)[.]"
  "cli/WhyCommand[.](TheNextCommandChecksTheFirstRemedy|OfOneRankHasWhatThatRankHas)"
  "cli/CacheCommand[.]EveryCommandOverRanksGivesTheSameFromTheCache"
  "cli/Baseline[.]HistoryFindsTheBuildThatIsSlower"
  "collect/LogMetric[.](ALogWithoutLineFeeds|NumbersInLongLines)"
  "pages/TopPage[.]NoLineIsWiderThanAskedForWhateverTheNames"
  "app/(WatchScenarios[.]AStragglerInWindowsOfThreeStepsIsNamed|ClockAlignmentOfARun[.])"
  "api/CInterface[.](EveryTableAndViewIsThatOfQueryCellByCell|BatchesAreBoundedInRowsAndBytes)"
  "property/GraphTruth[.]KernelsOfHiddenOperatorsAreAttributedRightly"
  "golden/(SynthGolden[.]OperatorsHaveAsManyArgumentsAsInRealTraces|ReaderGolden[.])"
  "analyses/CollectiveReport[.]OverAHundredRunsNoRankIsNamedByChanceAndASlowOneIs"
  "cli/(TopCommand[.]DifferentRowsHaveDifferentNames|Query[.]QueriesOfTheDocumentationRun)"
  "cli/(ReduceFlagsTest[.]ThePageOfASweepElsewhere|Limits[.]PlotsNeedNoOtherProgram|InputsKept[.])"
  "cli/Partial[.](APageIsThatOfOneProcess|NodesWithTheirOwnFoldersMakeOneRun)"
  "cli/Compare[.](MarkdownIsAppendedToAJobSummaryOnly|VerdictsAndExitCodes|ALostRankIsNoDifference)"
  "cli/(FindingsOfCommands[.]|ForeignInput[.]AKnownFormatIsRefusedWithTheCommandThatReadsIt)"
  "cli/(Gemm[.]StepsOnEarlierOutputsEqualTheStepsOnTraces|Dlrm/OneRun[.].*/(analyze|compare))"
  "cli/Analyze[.](EveryDocumentedFileSheetAndColumnIsThere|WithoutIndividualReportsAllElseIsTheSame)"
  "cli/Analyze[.](ASpoiledStateIsNamedAndNotUsed|TwoSweepsAndTheirPage)"
  "cli/CacheCommand[.](AfterAnalyzeOtherCommandsReadNoTrace|AnalyzeSparesPythonFrames)"
  "cli/Cli[.]AnalyzeWritesEveryDocumentedFileAndColumn")
set(label_browser
  "cli/Page[.](OfATraceIsUsed|OfARunIsUsed|OfAComparison|NamesThatAreMarkup)"
  "cli/Html[.].*(ShowInABrowser|ShowsInABrowser|Base64IsRight)")
set(label_office "cli/Compare.*[.].*LibreOffice")
set(label_cluster "cluster/")
set(label_waits
  "os/(GuardedTree|Process|ProcessLinger|ScratchFolder|SharedScratch)[.]" "os/WholeFile[.]APipeNeedsAWriter"
  "cli/LibraryPerfNative[.]AHangEndsAtItsTime" "engine/TraceIdentity[.]"
  "collect/(Sampler|ReplayRun|ReplayTorch)[.]"
  "cli/(Kills|Interrupt|ProfileEnd|WatchCli|Sample)[.]")
set(label_threads
  "os/(ByteSource|ChildStreams|Exchange|OutputFile|Process|ScratchFolder|SharedScratch|Tasks)[.]"
  "readers/(KinetoReader|OnceOnly)[.]" "writers/DrawnPlots[.]" "sql/SqlDatabase[.]"
  "collect/Sampler[.]"
  "engine/(AheadRows|BatchReport|CaptureFolder|Loader|RunRanksTest)[.]"
  "app/(AnalyzeApp|PageLinks|PartsInMemory|Query|ReduceJob|Split|Top)[.]"
  "app/Watch[.](ARestartNeitherReadsNorTellsAgain|ReadsEachTraceOnce|TheFirstLookKnows)"
  "property/(MergedTrace[.]|Synth[.]EqualOptions)"
  "cli/(Threads|Interrupt)[.]")

foreach(name IN LISTS names)
  set(labels ${folder})
  foreach(label slow sanitized-slow browser office cluster waits threads)
    foreach(pattern IN LISTS label_${label})
      if(name MATCHES "^${pattern}")
        list(APPEND labels ${label})
        break()
      endif()
    endforeach()
  endforeach()
  set_tests_properties("${name}" PROPERTIES LABELS "${labels}")
endforeach()
